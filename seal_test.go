package ppl_test

import (
	"encoding/json"
	"testing"

	"github.com/ppl-lang/ppl"
)

// A sealed object is still JSON, and no bit of it can change unnoticed.
func TestSeal(t *testing.T) {
	text := ppl.Seal([]byte(`{"a":1.25,"b":["x","}"]}` + "\n"))
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil || object["a"] != 1.25 || len(object) != 3 {
		t.Errorf("%s: %v", text, err)
	}
	if err := ppl.CheckSeal("x", text); err != nil {
		t.Error(err)
	}
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			if ppl.CheckSeal("x", text) == nil {
				t.Errorf("%s passes", text)
			}
			text[i] ^= 1 << bit
		}
		if ppl.CheckSeal("x", text[:i]) == nil {
			t.Errorf("%s passes", text[:i])
		}
	}
}
