package study

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ppl-lang/ppl/internal/files"
)

// This file encodes units with their data, so that a worker needs only the models in addition. A
// pack is a folder of such units that tasks share.

// unitHeader is a unit without its data.
type unitHeader struct {
	Type  string `json:"type"` // "unit"
	Key   string `json:"key"`
	Spec  Spec   `json:"spec"`
	Sizes [3]int `json:"sizes"` // of data, truth and test in the payload

	TimeLimit time.Duration `json:"time_limit,omitempty"` // in nanoseconds
}

// appendUnit appends the frame of a unit.
func appendUnit(dst []byte, u *Unit) ([]byte, error) {
	h := unitHeader{Type: "unit", Key: u.Key, Spec: u.Spec, TimeLimit: u.TimeLimit}
	var payload []byte
	for i, name := range []string{u.Spec.Data, u.Spec.Truth, u.Spec.Test} {
		h.Sizes[i] = len(u.Blobs[name])
		payload = append(payload, u.Blobs[name]...)
	}
	return appendFrame(dst, h, payload)
}

// decodeUnit decodes a unit encoded by appendUnit.
func decodeUnit(header, payload []byte) (*Unit, error) {
	var h unitHeader
	if err := json.Unmarshal(header, &h); err != nil || h.Type != "unit" {
		return nil, errors.New("a fit that cannot be read")
	}
	u := &Unit{Key: h.Key, Spec: h.Spec, TimeLimit: h.TimeLimit, Blobs: map[string][]byte{}}
	for i, name := range []string{h.Spec.Data, h.Spec.Truth, h.Spec.Test} {
		if n := h.Sizes[i]; n < 0 || n > len(payload) {
			return nil, errors.New("a fit that cannot be read")
		}
		if name != "" {
			u.Blobs[name] = payload[:h.Sizes[i]]
		}
		payload = payload[h.Sizes[i]:]
	}
	return u, nil
}

// The files of a pack.
const (
	packUnits  = "units.frames"
	packIndex  = "units.index" // where each unit begins, 64 bits, little endian
	packModels = "models"      // a folder with a file for each, by digest
)

// pack is a folder of units.
type pack struct {
	dir   string
	count int
}

// writePack writes units to a new folder, atomically.
func writePack(dir string, job *Job, units func(yield func(*Unit) bool)) (*pack, error) {
	partial, err := files.TempFolder(dir)
	if err != nil {
		return nil, err
	}
	defer files.RemoveAll(partial)
	if err := files.MakeFolders(filepath.Join(partial, packModels)); err != nil {
		return nil, err
	}
	for digest, blob := range job.Models {
		if err := files.Swap(filepath.Join(partial, packModels, digest), blob); err != nil {
			return nil, err
		}
	}
	text, err := files.Create(filepath.Join(partial, packUnits))
	if err != nil {
		return nil, err
	}
	defer text.Close()
	index, err := files.Create(filepath.Join(partial, packIndex))
	if err != nil {
		return nil, err
	}
	defer index.Close()
	t, x := bufio.NewWriterSize(text, 1<<16), bufio.NewWriter(index)
	p := &pack{dir: dir}
	at := uint64(0)
	var frame []byte
	for u := range units {
		if frame, err = appendUnit(frame[:0], u); err != nil {
			return nil, err
		}
		x.Write(binary.LittleEndian.AppendUint64(nil, at))
		if _, err := t.Write(frame); err != nil {
			return nil, err
		}
		at += uint64(len(frame))
		p.count++
	}
	if err := errors.Join(t.Flush(), x.Flush()); err != nil {
		return nil, fmt.Errorf("cannot write the fits for the tasks: %w", err)
	}
	if err := files.SyncAll(partial); err != nil {
		return nil, fmt.Errorf("cannot write the fits for the tasks: %w", err)
	}
	if err := files.Move(partial, dir); err != nil {
		return nil, fmt.Errorf("cannot write the fits for the tasks: %w", err)
	}
	return p, nil
}

// openPack opens a pack.
func openPack(dir string) (*pack, error) {
	info, err := os.Stat(filepath.Join(dir, packIndex))
	if err != nil {
		return nil, fmt.Errorf("%s has no fits of a study: %w", dir, err)
	}
	return &pack{dir, int(info.Size() / 8)}, nil
}

// each yields the units first, first+step and so on.
func (p *pack) each(first, step int, yield func(*Unit) error) error {
	text, err := os.Open(filepath.Join(p.dir, packUnits))
	if err != nil {
		return err
	}
	defer text.Close()
	index, err := os.Open(filepath.Join(p.dir, packIndex))
	if err != nil {
		return err
	}
	defer index.Close()
	info, err := text.Stat()
	if err != nil {
		return err
	}
	var at [8]byte
	for n := first; n < p.count; n += step {
		if _, err := index.ReadAt(at[:], int64(8*n)); err != nil {
			return err
		}
		offset := int64(binary.LittleEndian.Uint64(at[:]))
		header, payload, err := readFrame(bufio.NewReader(io.NewSectionReader(text, offset, info.Size()-offset)))
		if err != nil {
			return fmt.Errorf("%s: fit %d: %w", p.dir, n, err)
		}
		u, err := decodeUnit(header, payload)
		if err == nil {
			u.Number = n
			err = yield(u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// model reads a model.
func (p *pack) model(digest string) ([]byte, error) {
	return os.ReadFile(filepath.Join(p.dir, packModels, filepath.Base(digest)))
}
