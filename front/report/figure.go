package report

import "math"

// Figure is a plot as data: the labels of its axes and the layers between them. The script of the
// page and package plotfile draw the same figures.
type Figure struct {
	Kind   string   `json:"kind"`           // kind of the plot
	Of     []string `json:"of,omitempty"`   // quantities, variable or chain that the plot shows
	X      Axis     `json:"x"`              // horizontal axis
	Y      Axis     `json:"y"`              // vertical axis
	Layers []Layer  `json:"layers"`         // layers, the lowest first
	Alt    string   `json:"alt,omitempty"`  // description for readers who cannot see the figure
	Note   string   `json:"note,omitempty"` // what is left out, or why there is nothing
}

// Axis is one of the two axes of a figure.
type Axis struct {
	Label string   `json:"label"`           // label
	Log   bool     `json:"log,omitempty"`   // whether the axis is logarithmic
	Zero  bool     `json:"zero,omitempty"`  // whether the axis begins at zero
	Whole bool     `json:"whole,omitempty"` // whether the values are counts, with ticks at whole numbers
	Names []string `json:"names,omitempty"` // names of the positions 0, 1, …, instead of numbers
	Range []Number `json:"range,omitempty"` // smallest and largest value shown; without it, those of the data
}

// Mark says how a layer is drawn.
type Mark string

// The marks, with the fields of a layer that they use.
const (
	Line    Mark = "line"    // X, Y
	Step    Mark = "step"    // heights Y of adjacent bars, the first from From to From+Step
	Points  Mark = "points"  // X, Y
	Band    Mark = "band"    // X, Low, High
	Range   Mark = "range"   // horizontal, from Low to High at Y
	Whisker Mark = "whisker" // vertical, from Low to High at X
	Cells   Mark = "cells"   // X and Y are the columns and rows of a grid, Z its values, row after row
	Rule    Mark = "rule"    // a line across, at X or at Y
)

// Role is the meaning of a layer, which decides its colour.
type Role string

// The roles.
const (
	OfChain    Role = "chain"      // by Layer.Chain
	OfCategory Role = "category"   // by Layer.Category
	Observed   Role = "observed"   // data
	Data       Role = "data"       // rows of the data, faint
	Replicated Role = "replicated" // data drawn by the model
	Divergent  Role = "divergent"  // divergent transitions
	Bad        Role = "bad"        // beyond a limit
	Reference  Role = "reference"  // what the other layers are compared with
	First      Role = "first"      // the first of two things shown
	Second     Role = "second"     // the second of two things shown
	Inner      Role = "inner"      // the middle half, drawn on top of the whole interval
	Surface    Role = "surface"    // values as colours
	Chosen     Role = "chosen"     // the values that were chosen
)

// Layer is a set of marks. Where X is nil, its values are From, From+Step, …
type Layer struct {
	Mark  Mark   `json:"mark"`            // how the layer is drawn
	Role  Role   `json:"role"`            // role, which decides the colour
	Chain int    `json:"chain,omitempty"` // position of the chain in the run, from 1
	Label string `json:"label,omitempty"` // text in the legend

	// Category is a category of the outcome, from 1.
	Category int `json:"category,omitempty"`

	From float64 `json:"from,omitempty"` // first x, if there is no x
	Step float64 `json:"step,omitempty"` // distance of x, if there is no x
	X    Values  `json:"x,omitempty"`    // horizontal coordinates
	Y    Values  `json:"y,omitempty"`    // vertical coordinates
	Low  Values  `json:"low,omitempty"`  // lower ends
	High Values  `json:"high,omitempty"` // upper ends
	Z    Values  `json:"z,omitempty"`    // values shown by colour

	// XOf is the name of the quantity whose draws are x. The draws are those of the chain, of all
	// chains if it is 0, or of divergent transitions if that is the role. The name replaces the
	// numbers, so that the page has the draws once.
	XOf string `json:"x_of,omitempty"`
	YOf string `json:"y_of,omitempty"` // name of the quantity whose draws are y

	Names []string `json:"names,omitempty"` // names of the points
}

// empty reports whether there is nothing to draw.
func (l *Layer) empty() bool {
	if l.XOf != "" || l.YOf != "" || l.Mark == Rule || l.Mark == Cells {
		return false
	}
	for _, v := range [][]float64{l.Y, l.Low} {
		for _, x := range v {
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				return false
			}
		}
	}
	return true
}

// Empty reports whether a figure has nothing to show. Its Note then gives the reason.
func (f *Figure) Empty() bool {
	for i := range f.Layers {
		if l := &f.Layers[i]; l.Role != Reference && !l.empty() {
			return false
		}
	}
	return true
}
