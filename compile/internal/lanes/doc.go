// Package lanes computes with values that data decide, in the lanes of loops. A lane is an
// iteration of a loop, or of nested loops. The package has numbers per lane, conditions that split
// lanes, and elements that indices select. It knows no graph.
//
//	value.go   Value: known numbers per lane
//	place.go   the current lanes: conditions, loops within loops
//	split.go   ragged data: groups of iterations with equal sizes
//	access.go  Access: the elements of a container that indices select, per lane
package lanes
