package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/compile/data"
)

// maxHintData is the maximum size of a data file that is read to show sizes in hints. The file is
// read at every change of the model.
const maxHintData = 8 << 20

// dataFile returns the data file in the folder of a model: NAME.data.json, or NAME.json; "" if
// neither exists.
func dataFile(model string) string {
	if model == "" {
		return ""
	}
	base := strings.TrimSuffix(model, filepath.Ext(model))
	for _, name := range []string{base + ".data.json", base + ".json"} {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// dataInts returns the integers in the data file of a model.
func (c *intsCache) dataInts(model string) map[string]int64 {
	name := dataFile(model)
	if name == "" {
		return nil
	}
	info, err := os.Stat(name)
	if err != nil || info.Size() > maxHintData {
		return nil
	}
	return c.of(name, info)
}

// intsCache remembers the integers of the last file read, as long as it does not change.
type intsCache struct {
	mu   sync.Mutex
	name string
	info os.FileInfo
	ints map[string]int64
}

func (c *intsCache) of(name string, info os.FileInfo) map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name == name && c.info.Size() == info.Size() && c.info.ModTime().Equal(info.ModTime()) {
		return c.ints
	}
	c.name, c.info, c.ints = name, info, nil
	set, err := data.ReadJSON(name, data.Options{Memory: 1 << 30})
	if err != nil {
		return nil // an error is reported when the data are used
	}
	c.ints = map[string]int64{}
	for _, n := range set.Names() {
		if v, ok := set.Get(n); ok && v.IsInt && v.Shape == nil && len(v.Ints) == 1 {
			c.ints[n] = v.Ints[0]
		}
	}
	return c.ints
}
