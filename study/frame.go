package study

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A frame is a header in JSON and a payload of bytes: a record of a journal, or a message
// between processes. It begins with four numbers of 32 bits, little endian: the magic, the
// lengths of header and payload, and the checksum (CRC-32C) of both together.

const (
	frameMagic = 0x4c505021 // "!PPL"
	frameHead  = 16
	maxFrame   = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errTorn means that a frame is incomplete or damaged.
var errTorn = errors.New("the record is damaged, or not complete")

// appendFrame appends a frame to dst.
func appendFrame(dst []byte, header any, payload []byte) ([]byte, error) {
	text, err := json.Marshal(header)
	if err != nil {
		return dst, err
	}
	if len(text)+len(payload) > maxFrame {
		return dst, fmt.Errorf("a record of %d bytes: the limit is %d", len(text)+len(payload), maxFrame)
	}
	dst = binary.LittleEndian.AppendUint32(dst, frameMagic)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	sum := crc32.Update(crc32.Checksum(text, castagnoli), castagnoli, payload)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return append(append(dst, text...), payload...), nil
}

// readFrame reads a frame. The error is io.EOF if there is none, and errTorn if it is incomplete or
// damaged.
func readFrame(r io.Reader) (header, payload []byte, err error) {
	var head [frameHead]byte
	if n, err := io.ReadFull(r, head[:]); err != nil {
		if n == 0 && err == io.EOF {
			return nil, nil, io.EOF
		}
		return nil, nil, torn(err)
	}
	h, p := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[8:])
	if binary.LittleEndian.Uint32(head[:]) != frameMagic || uint64(h)+uint64(p) > maxFrame {
		return nil, nil, errTorn
	}
	// Read in pieces, so that a damaged length does not allocate all memory.
	body, err := io.ReadAll(io.LimitReader(r, int64(h)+int64(p)))
	if err != nil || len(body) < int(h+p) {
		return nil, nil, torn(err)
	}
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(head[12:]) {
		return nil, nil, errTorn
	}
	return body[:h], body[h:], nil
}

// torn distinguishes read errors from an early end.
func torn(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTorn
	}
	return err
}
