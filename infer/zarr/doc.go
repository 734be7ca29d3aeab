// Package zarr writes and reads Zarr stores of version 3: folders with groups of arrays of numbers.
// Python's zarr and xarray, and libraries of many other languages, read them without conversion.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	store.go  Create, Open: stores and groups, and their metadata
//	array.go  Array: chunks of numbers
//	codec.go  numbers as bytes, compression
//
// A store can be read while it is being written. Every file, whether metadata or chunk, is written
// under a temporary name and renamed, so that a reader sees it complete or not at all. A missing
// chunk reads as the fill value. Every group has the consolidated metadata of all groups and arrays
// below it, as xarray expects.
//
// Only stores as ppl writes them are supported: arrays of float64, complex128, int64, bool and text
// in regular chunks, little-endian, uncompressed or compressed by gzip. [Open] refuses other
// stores, and names the unsupported feature.
//
// The format is the Zarr core specification, version 3, at zarr-specs.readthedocs.io. Consolidated
// metadata are as zarr-python 3 writes them.
package zarr
