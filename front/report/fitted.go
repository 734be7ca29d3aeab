package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/model"
)

// Fitted says what was fitted to which data.
type Fitted struct {
	Question string `json:"question"`          // the comment at the beginning of the model
	Command  string `json:"command,omitempty"` // command that makes the run again; "" if it is not known
	Text     string `json:"text"`              // the model
	Data     *Table `json:"data,omitempty"`    // the data, a row per variable; null if they are not known
}

// model returns the model of the fit or the program that generated its quantities.
func (w *work) model() (*model.Model, error) {
	if w.o.Generated != nil {
		return w.o.Generated.Model(), nil
	}
	return w.fit.Model()
}

// fitted describes the model and the data; nil if the model is not known.
func fitted(w *work) *Fitted {
	m, err := w.model()
	if err != nil {
		return nil
	}
	out := &Fitted{Text: m.Text(), Command: w.o.Again}
	var question []string
	for _, text := range comment(out.Text) {
		if n := len(question); n > 1 && question[n-1] != "" && text != "" && !strings.ContainsAny(question[n-1][len(question[n-1])-1:], ".:;?!") {
			question[n-1] += " " + text // a sentence that goes on
			continue
		}
		question = append(question, text)
	}
	out.Question = strings.Join(question, "\n")
	values, err := w.fit.Data()
	if g := w.o.Generated; g != nil {
		values, err = g.Data(), nil
	}
	if err != nil || values == nil {
		return out
	}
	t := &Table{Kind: "data", Title: "Data", Rows: [][]any{}, Columns: []Column{{"", 0}, {"values", 0}, {"smallest", -1}, {"mean", -1}, {"largest", -1}, {"missing", 0}, {"levels", 0}}}
	for _, name := range values.Names() {
		v, ok := values.Get(name)
		if !ok {
			continue
		}
		size := "1"
		if len(v.Shape) > 0 {
			size = strings.ReplaceAll(strings.Trim(fmt.Sprint(v.Shape), "[]"), " ", " × ")
		}
		n, holes, mean, least, largest := 0, 0, 0.0, math.Inf(1), math.Inf(-1)
		for _, x := range v.Reals {
			if math.IsNaN(x) {
				holes++
				continue
			}
			n++
			mean += (x - mean) / float64(n)
			least, largest = min(least, x), max(largest, x)
		}
		levels, first := values.Factor(name)
		row := []any{name, size, "", "", "", "", ""} // as the columns
		switch {
		case levels != nil:
			row[6] = levelsText(levels, first)
		case n > 0:
			row[2], row[3], row[4] = Number(least), Number(mean), Number(largest)
		}
		if holes > 0 {
			row[5] = holes
		}
		t.Rows, t.Decimals = append(t.Rows, row), append(t.Decimals, -1)
	}
	for _, column := range []int{6, 5} { // levels, missing: only if some variable has them
		if !slices.ContainsFunc(t.Rows, func(r []any) bool { return r[column] != "" }) {
			t.Columns = slices.Delete(t.Columns, column, column+1)
			for i := range t.Rows {
				t.Rows[i] = slices.Delete(t.Rows[i], column, column+1)
			}
		}
	}
	t.Note = w.missing()
	out.Data = t
	return out
}

// comment returns the lines of the comment at the beginning of a program: of lines with //, or
// between the first /* and its */.
func comment(program string) (lines []string) {
	inside := false
	for line := range strings.SplitSeq(program, "\n") {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "/*"); ok && len(lines) == 0 {
			inside, line = true, text
		}
		if !inside {
			text, ok := strings.CutPrefix(line, "//")
			if !ok {
				break
			}
			lines = append(lines, strings.TrimSpace(text))
			continue
		}
		text, _, ended := strings.Cut(line, "*/")
		if text = strings.TrimSpace(strings.TrimLeft(text, "*")); text != "" || len(lines) > 0 && !ended {
			lines = append(lines, text)
		}
		if ended {
			break
		}
	}
	return lines
}

// maxMissing is the maximum number of missing values that are listed by name.
const maxMissing = 12

// missing says which values of the data are missing.
func (w *work) missing() string {
	p, err := w.fit.Posterior(w.ctx)
	if err != nil {
		return ""
	}
	return MissingText(p.Missing())
}

// MissingText says which values of data are missing, and so are parameters; "" if none are.
func MissingText(list []model.Missing) string {
	n := 0
	var parts []string
	for _, m := range list {
		n += len(m.Elements)
		listed := m.Elements[:min(len(m.Elements), maxMissing)]
		text := fmt.Sprintf("%d of %d values of %s: %s", len(m.Elements), m.Size, m.Name, strings.Join(listed, ", "))
		if len(listed) < len(m.Elements) {
			text += ", …"
		}
		parts = append(parts, text)
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 value is missing and was estimated as a parameter: " + parts[0] + "."
	}
	return fmt.Sprintf("%d values are missing and were estimated as parameters: %s.", n, strings.Join(parts, "; "))
}

// levelsText lists the first levels of a factor with their numbers.
func levelsText(levels []string, first int) string {
	const shown = 6
	var words []string
	for i, l := range levels[:min(shown, len(levels))] {
		words = append(words, fmt.Sprintf("%d %s", first+i, l))
	}
	if len(levels) > shown {
		words = append(words, fmt.Sprintf("… (%d)", len(levels)))
	}
	return strings.Join(words, ", ")
}
