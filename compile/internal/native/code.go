package native

import (
	"runtime"
	"unsafe"
)

// Code is executable memory. Callers of its functions must keep it referenced.
type Code struct{ base uintptr }

// Func is a function of executable code.
type Func struct{ entry uintptr }

// Make makes the code executable and returns its functions, by their labels. The memory is freed
// when nobody references the Code. It is never writable and executable at once.
func (a *Asm) Make(entries []Label) (*Code, []Func, error) {
	code, at := a.finish()
	mem, free, err := executable(code)
	if err != nil {
		return nil, nil, err
	}
	c := &Code{uintptr(mem)}
	runtime.AddCleanup(c, func(free func()) { free() }, free)
	fs := make([]Func, len(entries))
	for i, l := range entries {
		fs[i] = Func{c.base + uintptr(at(l))}
	}
	return c, fs, nil
}

// Run calls the function with Memory = mem, Views = views, Scratch = scratch, R0 = first, R1 =
// last, R2 = end. It returns T0.
func (f Func) Run(mem, views, scratch unsafe.Pointer, first, last, end int) int {
	return run(f.entry, mem, views, scratch, first, last, end)
}
