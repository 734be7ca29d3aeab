// Package lanes is the arithmetic of values that data decide in the lanes of loops: numbers per
// iteration, conditions that split iterations, and elements that indices select. It knows no graph.
//
//	value.go   Value: known numbers per lane
//	place.go   the iterations in force: conditions, loops within loops
//	split.go   ragged data: iterations by groups of equal sizes
//	access.go  Access: the elements of a container that indices select, per lane
package lanes
