package sampler_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// TestEncode checks that every sampler of the table, with options of all kinds, is the same after
// encoding and decoding.
func TestEncode(t *testing.T) {
	samplers := []infer.Sampler{
		nuts.Sampler{MaxDepth: 7, MaxEnergyError: math.Inf(1), Adapt: warmup.Options{StepSize: 0.1, Metric: infer.Dense, StartBuffer: -1}},
		hmc.Sampler{Kernel: hmc.Kernel{Steps: 9, FixedLength: true}},
	}
	for _, row := range sampler.Table() {
		s, err := row.Default()
		if err != nil {
			t.Fatal(err)
		}
		samplers = append(samplers, s)
	}
	for _, s := range samplers {
		text, err := json.Marshal(sampler.Encode(s))
		if err != nil {
			t.Fatal(err)
		}
		var e sampler.Encoded
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		got, err := e.Sampler()
		if err != nil || got == nil {
			t.Errorf("%s: %v, %v", text, got, err)
			continue
		}
		// Functions cannot be compared: %+v prints their addresses, which are those of one literal.
		if g, ok := s.(sampler.Geometric); ok {
			if !reflect.DeepEqual(got.(sampler.Geometric).Riemannian, g.Riemannian) || reflect.TypeOf(got.(sampler.Geometric).Sampler) != reflect.TypeOf(g.Sampler) {
				t.Errorf("%s: %+v, not %+v", text, got, s)
			}
			h := reflect.ValueOf(got.(sampler.Geometric).Sampler).FieldByName("Hamiltonian")
			if h.IsNil() {
				t.Errorf("%s has no geometry", text)
			}
		} else if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", s) {
			t.Errorf("%s: %+v, not %+v", text, got, s)
		}
	}
}

// own is a sampler that is not in the table.
type own struct{ nuts.Sampler }

// TestEncodePartial checks that a sampler that cannot be restored gives nil, and that data of
// another version give an error.
func TestEncodePartial(t *testing.T) {
	for _, s := range []infer.Sampler{
		own{}, nuts.Sampler{Hamiltonian: func(*infer.Meter) (infer.Hamiltonian, error) { return nil, nil }}, ahmc.Sampler{Reward: ahmc.SquaredJump{}},
	} {
		e := sampler.Encode(s)
		if got, err := e.Sampler(); got != nil || err != nil || !e.Partial {
			t.Errorf("%+v: %v, %v", e, got, err)
		}
	}
	for _, options := range []string{`{"Depth": 3}`, `{"MaxDepth": "three"}`, `{"MaxDepth": 1.5}`, `{"MaxDepth": {}}`, `[1]`, `{`} {
		if got, err := (sampler.Encoded{Type: "nuts.Sampler", Options: json.RawMessage(options)}).Sampler(); err == nil {
			t.Errorf("%s: %v", options, got)
		}
	}
}
