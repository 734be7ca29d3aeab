package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A frame is a record on a standard stream. It has four little-endian 32-bit numbers (a magic
// number, the lengths of header and payload, and the CRC-32C of both), a JSON header, and a payload
// of bytes. Package study of ppl uses the same format.
type frame struct {
	header header
	raw    []byte // the encoded frame
}

// header has the fields of a frame's header that this program uses.
type header struct {
	Type   string `json:"type"` // model, unit, result, ack, end, done, note
	Key    string `json:"key,omitempty"`
	Digest string `json:"digest,omitempty"` // of a model
	Text   string `json:"text,omitempty"`   // of a note
	Spec   *struct {
		Model      string `json:"model"`
		Quantities string `json:"quantities"`
	} `json:"spec,omitempty"`
}

const (
	frameMagic = 0x4c505021
	frameHead  = 16
	maxFrame   = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errFrame = errors.New("a record is damaged")

// readFrame reads a frame. It returns io.EOF at the end of the stream.
func readFrame(r io.Reader) (*frame, error) {
	raw := make([]byte, frameHead)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, err
	}
	h, p := binary.LittleEndian.Uint32(raw[4:]), binary.LittleEndian.Uint32(raw[8:])
	if binary.LittleEndian.Uint32(raw) != frameMagic || uint64(h)+uint64(p) > maxFrame {
		return nil, errFrame
	}
	body := make([]byte, frameHead+int(h+p))
	copy(body, raw)
	if _, err := io.ReadFull(r, body[frameHead:]); err != nil {
		return nil, err
	}
	f := &frame{raw: body}
	if crc32.Checksum(body[frameHead:], castagnoli) != binary.LittleEndian.Uint32(raw[12:]) || json.Unmarshal(body[frameHead:frameHead+h], &f.header) != nil {
		return nil, errFrame
	}
	return f, nil
}

// newFrame makes a frame.
func newFrame(header any, payload []byte) []byte {
	text, err := json.Marshal(header)
	if err != nil {
		panic(err) // names and texts
	}
	out := binary.LittleEndian.AppendUint32(nil, frameMagic)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(payload)))
	out = binary.LittleEndian.AppendUint32(out, crc32.Update(crc32.Checksum(text, castagnoli), castagnoli, payload))
	return append(append(out, text...), payload...)
}

// payload returns the bytes after the header.
func (f *frame) payload() []byte {
	return f.raw[frameHead+int(binary.LittleEndian.Uint32(f.raw[4:])):]
}

// givenUp returns the result of a unit that failed too often.
func givenUp(key, reason string, deliveries int) []byte {
	message := fmt.Sprintf("the fit was given up after %d attempts: %s", deliveries, reason)
	return newFrame(map[string]any{"type": "result", "key": key, "status": "failed", "message": message,
		"findings": []map[string]any{{"code": "lost", "severity": "problem", "summary": message, "advice": ""}}}, nil)
}

// buffered is a reader of frames.
func buffered(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 1<<16) }
