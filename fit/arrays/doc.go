// Package arrays lays out draws as arrays: the columns of a draw (theta.1, theta.2) as variables
// with shapes, and groups of such variables in a Zarr store, written and read.
//
//	layout.go  columns as variables with shapes
//	group.go   a group of a store that draws are written to
//	read.go    a group read back
package arrays
