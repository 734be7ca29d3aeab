// Package lzma compresses in the format .lzma, which xz and 7-Zip read too. A page or a program in
// JavaScript decompresses it with front/web/page/unpack.js.
//
//	lzma.go    Compress
//	decode.go  Decompress
//	parse.go   which literals and matches encode the text at the least price
//	match.go   earlier places with the same bytes
//	model.go   probabilities and prices of symbols, and how they are encoded
//	coder.go   the range coder
//
// Compressed files have literal contexts of 4 bits and no contexts by position: for programs in
// WebAssembly, whose instructions have no alignment, these give the smallest files. The header has
// the size, so there is no mark of the end.
package lzma

import "encoding/binary"

// literalBits is the number of bits of the last byte that choose the probabilities of a literal.
const literalBits = 4

// Compress returns a .lzma file with a text. The same text gives the same bytes everywhere: prices
// are integers.
func Compress(text []byte) []byte {
	header := make([]byte, headerSize)
	header[0] = literalBits
	binary.LittleEndian.PutUint32(header[1:], dictionary(len(text)))
	binary.LittleEndian.PutUint64(header[5:], uint64(len(text)))
	p := newParser(text, header)
	for p.at < len(text) {
		p.block()
	}
	return p.out.flush()
}

// dictionary returns the size of the dictionary: a power of two that has the whole text.
func dictionary(n int) uint32 {
	size := uint32(1 << 12)
	for int(size) < n && size < 1<<30 {
		size *= 2
	}
	return size
}
