// Package arrays lays out draws as arrays. It maps the columns of a draw (theta.1, theta.2) to
// variables with shapes, and writes and reads groups of such variables in a Zarr store.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	layout.go  variables with shapes, from the names of columns
//	group.go   writing draws to a group of a store
//	read.go    reading a group
package arrays
