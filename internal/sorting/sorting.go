// Package sorting sorts slices of any type with little machine code.
//
// slices.SortStableFunc compiles to 12 kB for each type of element, with what the runtime must know
// of it: 0.4 MB in ppl. Stable sorts indices, by code that all types share, and moves the elements
// once. It allocates both. Code that sorts for each draw or gradient uses package slices.
package sorting

// Stable sorts x by compare, which returns a number below zero if a is to come before b. Elements
// that compare equal keep their order.
func Stable[E any](x []E, compare func(a, b E) int) {
	order := sorted(len(x), func(i, j int) bool { return compare(x[i], x[j]) < 0 })
	if order == nil {
		return
	}
	out := make([]E, len(x))
	for i, from := range order {
		out[i] = x[from]
	}
	copy(x, out)
}

// run is the length of the runs that are sorted by insertion before they are merged.
const run = 8

// sorted returns the numbers below n in ascending order, or nil if they are in order as they are.
func sorted(n int, less func(i, j int) bool) []int {
	i := 1
	for i < n && !less(i, i-1) {
		i++
	}
	if i >= n {
		return nil
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for lo := 0; lo < n; lo += run {
		insert(order[lo:min(lo+run, n)], less)
	}
	if n <= run {
		return order
	}
	into := make([]int, n)
	for width := run; width < n; width *= 2 {
		for lo := 0; lo < n; lo += 2 * width {
			middle, hi := min(lo+width, n), min(lo+2*width, n)
			merge(into[lo:hi], order[lo:middle], order[middle:hi], less)
		}
		order, into = into, order
	}
	return order
}

// insert sorts by insertion.
func insert(x []int, less func(i, j int) bool) {
	for i := range x {
		for j := i; j > 0 && less(x[j], x[j-1]); j-- {
			x[j], x[j-1] = x[j-1], x[j]
		}
	}
}

// merge merges two sorted runs. Of equals those of the first run come first.
func merge(into, a, b []int, less func(i, j int) bool) {
	for k := range into {
		if len(a) == 0 || len(b) > 0 && less(b[0], a[0]) {
			into[k], b = b[0], b[1:]
		} else {
			into[k], a = a[0], a[1:]
		}
	}
}
