package bayesopt

import (
	"fmt"
	"math"
)

// Axis is one coordinate of a grid: an ascending list of values, on a linear
// or a logarithmic scale.
type Axis struct {
	Values []float64
	Log    bool // distances are those of the logarithms
}

// LogAxis returns n values from low to high, both included, with equidistant logarithms. It returns
// one value if n is 1 or low equals high.
func LogAxis(low, high float64, n int) Axis {
	a := LinearAxis(math.Log(low), math.Log(high), n)
	a.Log = true
	for i := range a.Values {
		a.Values[i] = math.Exp(a.Values[i])
	}
	// The ends are exact.
	a.Values[0] = low
	if last := len(a.Values) - 1; last > 0 {
		a.Values[last] = high
	}
	return a
}

// LinearAxis returns n equidistant values from low to high, both included.
func LinearAxis(low, high float64, n int) Axis {
	if n <= 1 || low == high {
		return Axis{Values: []float64{low}}
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = low + (high-low)*float64(i)/float64(n-1)
	}
	values[n-1] = high
	return Axis{Values: values}
}

// IntegerAxis returns the integers from low to high. If there are more than n (n ≥ 2), it returns n
// of them that are as equidistant as possible, including both ends.
func IntegerAxis(low, high, n int) Axis {
	var a Axis
	if high-low < n {
		for v := low; v <= high; v++ {
			a.Values = append(a.Values, float64(v))
		}
		return a
	}
	a = LinearAxis(float64(low), float64(high), n)
	for i, v := range a.Values {
		a.Values[i] = math.Round(v)
	}
	return a
}

// coordinates returns the values on the scale on which distances are measured.
func (a Axis) coordinates() []float64 {
	c := make([]float64, len(a.Values))
	for i, v := range a.Values {
		c[i] = v
		if a.Log {
			c[i] = math.Log(v)
		}
	}
	return c
}

func (a Axis) validate() error {
	if len(a.Values) == 0 {
		return fmt.Errorf("bayesopt: an axis without values")
	}
	for i, v := range a.Values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("bayesopt: an axis with the value %v", v)
		case a.Log && v <= 0:
			return fmt.Errorf("bayesopt: the value %v on a logarithmic axis", v)
		case i > 0 && v <= a.Values[i-1]:
			return fmt.Errorf("bayesopt: an axis whose values do not ascend: %v, %v", a.Values[i-1], v)
		}
	}
	return nil
}

// Grid is a finite set of points, the product of its axes. Points are numbered such that the index
// on the first axis changes fastest; point 0 has the smallest value on each axis.
type Grid []Axis

// Size returns the number of points.
func (g Grid) Size() int {
	size := 1
	for _, a := range g {
		size *= len(a.Values)
	}
	return size
}

// Point returns the coordinates of a point, given its number.
func (g Grid) Point(number int) []float64 {
	point := make([]float64, len(g))
	for i, a := range g {
		point[i] = a.Values[number%len(a.Values)]
		number /= len(a.Values)
	}
	return point
}

// Nearest returns the number of the point nearest to the given coordinates. Each distance is
// measured on the scale of its axis. On a logarithmic axis, a coordinate of 0 or below counts as
// the smallest value.
func (g Grid) Nearest(point ...float64) int {
	number, stride := 0, 1
	for i, a := range g {
		place := point[i]
		if a.Log {
			place = math.Log(max(place, a.Values[0]))
		}
		best, coordinates := 0, a.coordinates()
		for j, c := range coordinates {
			if math.Abs(c-place) < math.Abs(coordinates[best]-place) {
				best = j
			}
		}
		number += best * stride
		stride *= len(a.Values)
	}
	return number
}

// index writes the indices of a point on the axes to dst.
func (g Grid) index(number int, dst []int) {
	for i, a := range g {
		dst[i] = number % len(a.Values)
		number /= len(a.Values)
	}
}
