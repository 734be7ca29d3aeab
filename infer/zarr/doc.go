// Package zarr writes and reads Zarr stores of version 3: folders with groups of
// arrays of numbers, which Python's zarr and xarray, and libraries of many other
// languages, read in place.
//
//	store.go  Create, Open: stores and groups, their metadata
//	array.go  Array: chunks of numbers
//	codec.go  numbers as bytes, compression
//
// A store is made to be read while it is being written: every file, metadata as
// chunks, is written beside its place and renamed, so that a reader sees it whole or
// not at all; a chunk that is not there reads as the fill value. Metadata of all that
// is below is consolidated in every group, as xarray wants it.
//
// What is supported is what ppl writes: arrays of float64, complex128, int64 and
// bool in regular chunks, little-endian, uncompressed or by gzip. Other stores are
// refused when they are opened, with what it is that they have.
//
// The format is described at zarr-specs.readthedocs.io, Zarr core specification,
// version 3; consolidated metadata as zarr-python 3 writes them.
package zarr
