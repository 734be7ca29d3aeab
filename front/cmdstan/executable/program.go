package executable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ppl-lang/ppl/model"
)

// Program is a model as stored in its executable.
type Program struct {
	Name     string            `json:"name"` // the model's name in files: bernoulli_model
	File     string            `json:"file"` // as messages name it
	Text     string            `json:"text"`
	Included map[string]string `json:"included,omitempty"` // texts of #include lines

	// Flags are the switches of the build that info prints, such as STAN_THREADS.
	Flags map[string]bool `json:"flags,omitempty"`

	StancFlags string `json:"stancflags,omitempty"`
}

// marker begins the line that contains the program in a script, or at the end of a binary.
const marker = "\n#ppl-program:"

// Append adds the program to the text of a script or to a binary.
func (p *Program) Append(file []byte) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	file = append(append(append(file, marker...), text...), '\n')
	return fmt.Appendf(file, "#%011d", len(marker)+len(text)+1), nil
}

// TrailerLength is the number of bytes at the end of a file that contain the length of the
// preceding program.
const TrailerLength = 12

// ProgramLength returns the length of the program before the trailer of a file, or 0 if there is no
// program.
func ProgramLength(trailer []byte) int {
	if len(trailer) != TrailerLength || trailer[0] != '#' {
		return 0
	}
	n := 0
	for _, c := range trailer[1:] {
		if c < '0' || c > '9' {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// ParseProgram parses the bytes that [Program.Append] has added, without the trailer.
func ParseProgram(text []byte) (*Program, error) {
	text, ok := bytes.CutPrefix(text, []byte(marker))
	if !ok {
		return nil, errors.New("the executable holds no model")
	}
	var p Program
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("the model in the executable is damaged: %w", err)
	}
	return &p, nil
}

// Compile compiles the model.
func (p *Program) Compile(ctx context.Context) (*model.Model, error) {
	return model.CompileContext(ctx, p.File, p.Text, model.CompileOptions{Included: p.Included})
}
