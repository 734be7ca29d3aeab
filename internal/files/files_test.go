package files_test

import (
	"encoding/json"
	"testing"

	"github.com/ppl-lang/ppl/internal/files"
)

// A sealed object is still JSON, and no bit of it can change unnoticed.
func TestSeal(t *testing.T) {
	text := files.Seal([]byte(`{"a":1.25,"b":["x","}"]}` + "\n"))
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil || object["a"] != 1.25 || len(object) != 3 {
		t.Errorf("%s: %v", text, err)
	}
	if err := files.CheckSeal("x", text); err != nil {
		t.Error(err)
	}
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			if files.CheckSeal("x", text) == nil {
				t.Errorf("%s passes", text)
			}
			text[i] ^= 1 << bit
		}
		if files.CheckSeal("x", text[:i]) == nil {
			t.Errorf("%s passes", text[:i])
		}
	}
}
