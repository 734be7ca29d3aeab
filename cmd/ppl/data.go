package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

func dataCommand() *cobra.Command {
	var in input
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "data FILE…",
		Long: `Shows what ppl reads in a file of data: the columns or variables with their names in a model, types, ranges, levels and holes. ` +
			"`ppl help data`" + ` describes the formats.

Further files are tables with more columns for the rows of the first. A row gets the columns of the row that has the same values in the columns in common. Other commands do the same if you give --data several times. A file W.mtx (Matrix Market) is the sparse matrix W, and so is a further table W.csv that only has the columns row, column and value.

With --model, it shows the declaration of each in the model, lists what the data lack, and checks the data. It prints the command that runs the model with these data. The exit code is 1 if they do not fit.`,
		Example: "  ppl data patients.csv\n  ppl data patients.csv --model readmissions.model\n  ppl data patients.csv --model readmissions.model --na drop\n  ppl data patients.csv hospitals.csv",
		Args:    atLeastOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, file := range args {
				if ext := strings.ToLower(filepath.Ext(file)); ext == ".stan" || ext == ".model" {
					return usagef("%s is a model, not data; write --model %s", file, file)
				}
			}
			in.data = args[0]
			for _, file := range args[1:] {
				in.others = append(in.others, data.Text{File: file})
			}
			return in.describe(cmd.Context(), path, asJSON, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	readsData.add(cmd, &in)
	f := declare(cmd)
	f.String(&path, "model", "")
	f.Bool(&asJSON, "json", false)
	return cmd
}

// dataJSON describes the content of a file of data.
type dataJSON struct {
	File    string       `json:"file"`              // path of the file, or stdin
	Table   bool         `json:"table"`             // whether the file is a table, with a column for each variable
	Rows    *int         `json:"rows,omitempty"`    // number of rows of a table, without those left out
	Dropped int          `json:"dropped,omitempty"` // rows left out by --na drop
	Columns []columnJSON `json:"columns"`           // columns of the table, or variables
	Needs   []needJSON   `json:"needs,omitempty"`   // variables that the model declares and the file lacks
	Command []string     `json:"command,omitempty"` // command that runs the model with the data, if they fit
	// Errors and warnings about the data of the model.
	Messages []jsonMessage `json:"messages,omitempty"`
}

// columnJSON is a column of a table, or a variable.
type columnJSON struct {
	Column   string   `json:"column,omitempty"`   // header of the column in a table
	Name     string   `json:"name"`               // name in a model
	Type     string   `json:"type"`               // integer, real, factor, sparse matrix, tuple, or unreadable
	Shape    []int    `json:"shape"`              // sizes of the dimensions; empty for a scalar
	Min      *number  `json:"min,omitempty"`      // smallest number
	Max      *number  `json:"max,omitempty"`      // largest number
	Mean     *number  `json:"mean,omitempty"`     // mean of the numbers
	Places   *int     `json:"places,omitempty"`   // number of values of a sparse matrix
	Levels   []string `json:"levels,omitempty"`   // levels of a factor, in the order of their numbers
	From     int      `json:"from,omitempty"`     // number of the first level
	Missing  int      `json:"missing,omitempty"`  // fields that are empty, NA or a word of --missing
	Read     string   `json:"read,omitempty"`     // how the column was declared to be read
	Advice   []string `json:"advice,omitempty"`   // flags that read the column in another way, where it seems needed
	Declared string   `json:"declared,omitempty"` // declaration in the model
	Fault    string   `json:"fault,omitempty"`    // why the column cannot be read

	holes bool   // holes alone are the reason
	same  string // two levels that differ only in the case of letters
}

// needJSON is a variable that the file lacks.
type needJSON struct {
	Name     string `json:"name"`              // name in the model
	Declared string `json:"declared"`          // declaration
	Value    *int   `json:"value,omitempty"`   // number that is counted for it
	Of       string `json:"of,omitempty"`      // column whose levels are counted
	RowsOf   string `json:"rows_of,omitempty"` // column for whose levels the rows are counted
	SizeOf   string `json:"size_of,omitempty"` // variable with another size than the rows, of which it is the size
	Flag     string `json:"flag,omitempty"`    // flag that sets it by counting
}

// described is a file of data together with the model that it is for.
type described struct {
	dataJSON
	list diag.List
}

// describe runs ppl data.
func (in *input) describe(ctx context.Context, path string, asJSON bool, stdout, stderr io.Writer) error {
	if err := in.limits(); err != nil {
		return err
	}
	in.quiet = true
	var m *model.Model
	if path != "" {
		if err := in.read(ctx, path); err != nil {
			return err
		}
		var err error
		if m, err = in.compiled(ctx, path, stderr); err != nil {
			return err
		}
	} else {
		in.readData(ctx)
	}
	text := in.text
	set, err := in.parseData(io.Discard)
	if err != nil {
		return err
	}
	d := &described{}
	if m != nil {
		if set, err = d.fit(ctx, in, m, set, text); err != nil {
			return err
		}
		if !d.list.HasErrors() {
			d.Command = in.runs(path)
		}
	}
	d.File, d.Table, d.Dropped = set.File(), set.Table(), set.Dropped()
	d.columns(set, m)
	if asJSON {
		d.Messages = messages(wordedList(d.list))
		err = writeJSON(stdout, d.dataJSON)
	} else {
		err = d.write(stdout, stderr, path)
	}
	if err == nil && d.list.HasErrors() {
		return exitCode(exitError)
	}
	return err
}

// fit binds the model to the data. It finds out which numbers of levels the model needs from the
// table.
func (d *described) fit(ctx context.Context, in *input, m *model.Model, set *data.Set, text string) (*data.Set, error) {
	for {
		_, err := m.BindContext(ctx, set, in.bindOptions())
		d.list = model.Diagnostics(err)
		if err != nil && d.list == nil {
			return set, err
		}
		more := false
		for _, message := range d.list {
			// The setting names the columns whose levels would be counted. If there are several, or
			// any column may be meant, the user must choose.
			name, ok := strings.CutPrefix(strings.Join(message.Settings, " "), "count=")
			if ok && message.Code == diag.DataMissing && !strings.Contains(name, " ") && !strings.HasSuffix(name, "=column") && !slices.Contains(in.counts, name) {
				in.counts, more = append(in.counts, name), true
				d.Needs = append(d.Needs, needJSON{Name: strings.Split(name, "=")[0], Flag: "--count " + name})
			}
		}
		if !more {
			break
		}
		again, err := in.parse(fileName(in.data), text)
		if err != nil {
			return set, err
		}
		set = again
	}
	coded, _, err := m.Program().Coded(set)
	if err != nil { // the error is already in the list
		coded = set
	}
	return coded, nil
}

// runs returns the command that runs the model with these data.
func (in *input) runs(path string) []string {
	words := []string{"ppl", "run", path, "--data", in.data}
	for _, t := range in.others {
		words = append(words, "--data", t.File)
	}
	for _, c := range in.counts {
		words = append(words, "--count", c)
	}
	for _, na := range in.na {
		words = append(words, "--na", na)
	}
	for _, m := range in.missing {
		words = append(words, "--missing", m)
	}
	for _, how := range in.how {
		words = append(words, "--read", how)
	}
	for _, folder := range in.compile.IncludePaths {
		words = append(words, "--include-path", folder)
	}
	if in.compile.Legacy {
		words = append(words, "--legacy")
	}
	return words
}

// columns describes the columns that were read.
func (d *described) columns(set *data.Set, m *model.Model) {
	declared, names := declarations(m)
	sizes := map[string]string{}
	if m != nil {
		sizes = firstSizes(m)
	}
	columns := set.Columns()
	for _, name := range set.Names() {
		isColumn := func(c data.Column) bool { return c.Name == name }
		v, single := set.Get(name)
		matrix := (!single || v.Sparse() != nil || len(v.Shape) > 1) && !slices.ContainsFunc(columns, isColumn) // of another file
		if !d.Table || matrix {
			columns = append(columns, data.Column{Name: name})
		}
	}
	for _, c := range columns {
		d.Columns = append(d.Columns, describeColumn(set, c, declared[c.Name]))
		if v, ok := set.Get(c.Name); ok && d.Table && d.Rows == nil {
			d.Rows = &v.Shape[0]
		}
		delete(declared, c.Name)
	}
	for i, n := range d.Needs {
		d.Needs[i].Declared = declared[n.Name]
		delete(declared, n.Name)
	}
	for _, c := range set.Reading().Counts {
		v, ok := set.Get(c.Name)
		if !ok || declared[c.Name] == "" {
			continue
		}
		if len(v.Shape) > 0 { // the sizes of rows
			d.Needs = append(d.Needs, needJSON{Name: c.Name, Declared: declared[c.Name], RowsOf: c.Of})
			delete(declared, c.Name)
			continue
		}
		n := int(v.Ints[0])
		need := needJSON{Name: c.Name, Declared: declared[c.Name], Value: &n, Of: c.Of}
		if d.Rows == nil || n != *d.Rows {
			need.SizeOf = sized(set, c.Name, n, sizes)
		}
		d.Needs = append(d.Needs, need)
		delete(declared, c.Name)
	}
	for _, name := range names {
		if _, given := set.Get(name); declared[name] != "" && !given {
			d.Needs = append(d.Needs, needJSON{Name: name, Declared: declared[name]})
		}
	}
}

// sized returns the first variable with n elements that is declared with that size; "" if there is
// none.
func sized(set *data.Set, size string, n int, sizes map[string]string) string {
	for _, name := range set.Names() {
		if v, ok := set.Get(name); ok && sizes[name] == size && len(v.Shape) > 0 && v.Shape[0] == n {
			return name
		}
	}
	return ""
}

// declarations returns the declarations of a model's data by name, and the names in order.
func declarations(m *model.Model) (declared map[string]string, names []string) {
	declared = map[string]string{}
	if m == nil {
		return declared, nil
	}
	tree, info := m.Program().Syntax()
	block := tree.Block(ast.Data)
	if block == nil {
		return declared, nil
	}
	for _, s := range block.Stmts {
		decl, ok := s.(*ast.VarDecl)
		if !ok {
			continue
		}
		span, name := decl.Span(), info.Defs[decl].Name
		text := strings.Join(strings.Fields(span.File.Text[span.Start:span.End]), " ")
		declared[name] = strings.TrimSuffix(text, ";")
		names = append(names, name)
	}
	return declared, names
}

// describeColumn describes one variable of the data.
func describeColumn(set *data.Set, c data.Column, declared string) columnJSON {
	j := columnJSON{Column: c.Header, Name: c.Name, Missing: c.Missing, Declared: declared, Shape: []int{}, Read: c.How.String()}
	if e := set.Fault(c.Name); e != nil {
		j.Type, j.Fault, j.Advice = "unreadable", e.Message, wordsFor(e.Settings, "")
		j.holes = slices.Equal(e.Settings, []string{"na=drop"})
		return j
	}
	v, ok := set.Get(c.Name)
	if !ok {
		if v, ok = set.Triplets(c.Name, "-count", "-row", "-column").Get(c.Name); !ok { // names that no program has
			j.Type = "tuple"
			j.Shape = nil
			return j
		}
	}
	if s := v.Sparse(); s != nil {
		j.Type, j.Places = "sparse matrix", new(int)
		*j.Places = v.Size()
		if slices.Min(s.Size) >= 0 {
			j.Shape = s.Size
		} else {
			j.Shape = nil
		}
		j.bounds(v)
		return j
	}
	j.Shape = append(j.Shape, v.Shape...)
	reading := set.Reading()
	switch levels, zeros := set.Levels(c.Name), reading.Zeros[c.Name]; {
	case levels != nil:
		j.Type, j.Levels, j.From = "factor", levels, 1
		if pairs := data.SameLetters(levels); pairs != nil {
			j.same = pairs[0][0] + " and " + pairs[0][1]
			j.Advice = []string{"--read " + c.Name + "=lowercase"}
		}
		return j
	case zeros != nil:
		j.Type, j.Levels = "factor", zeros
		return j
	case v.IsInt:
		j.Type = "integer"
	default:
		j.Type = "real"
	}
	j.bounds(v)
	return j
}

// bounds sets the smallest and largest number and the mean, if there are numbers.
func (j *columnJSON) bounds(v data.Value) {
	least, greatest, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0
	for _, x := range v.Reals {
		if !math.IsNaN(x) {
			least, greatest, sum, n = min(least, x), max(greatest, x), sum+x, n+1
		}
	}
	if n > 0 {
		mean := sum / float64(n)
		j.Min, j.Max, j.Mean = (*number)(&least), (*number)(&greatest), (*number)(&mean)
	}
}

// maxLevels is the maximum number of levels that the table shows for a factor.
const maxLevels = 4

// values describes the values of a variable in a few words.
func (j *columnJSON) values() string {
	switch {
	case j.holes:
		return "not read: it has holes"
	case j.Fault != "" && len(j.Advice) > 0:
		return "not read, see below"
	case j.Fault != "":
		return j.Fault
	case j.Type == "factor":
		var shown []string
		for i, l := range j.Levels[:min(len(j.Levels), maxLevels)] {
			shown = append(shown, strconv.Itoa(j.From+i)+" "+escaped(l))
		}
		text := strings.Join(shown, ", ")
		if len(j.Levels) > maxLevels {
			text += fmt.Sprintf(", … %d levels", len(j.Levels))
		}
		return text
	case j.Type == "tuple":
		return ""
	case j.Min == nil:
		return "none"
	}
	short := func(x *number) string { return strconv.FormatFloat(float64(*x), 'g', 6, 64) }
	unit := ""
	if j.Places != nil {
		unit = " at " + counted(*j.Places, "place")
	}
	if strings.Contains(j.Read, " since ") {
		unit = " " + j.Read
	}
	if *j.Min == *j.Max {
		return short(j.Min) + unit
	}
	return short(j.Min) + " to " + short(j.Max) + unit + ", mean " + strconv.FormatFloat(float64(*j.Mean), 'g', 3, 64)
}

// advise lists the columns that may need to be read in another way.
func (d *described) advise(b *strings.Builder) {
	title := "\nHow columns can be read in another way:\n"
	for _, j := range d.Columns {
		if len(j.Advice) == 0 || j.holes {
			continue
		}
		reason := escaped(j.same) + " differ only in the case of letters"
		if j.same == "" {
			reason = escaped(strings.TrimPrefix(j.Fault, j.Name+" "))
		}
		b.WriteString(title + "  " + j.Name + ": " + reason + "; " + strings.Join(j.Advice, " or ") + "\n")
		title = ""
	}
}

// write writes the description for people.
func (d *described) write(stdout, stderr io.Writer, path string) error {
	var b strings.Builder
	b.WriteString(d.File + ": ")
	if d.Table {
		rows := 0
		if d.Rows != nil {
			rows = *d.Rows
		}
		columns := 0
		for _, j := range d.Columns {
			if j.Column != "" { // a matrix of another file has no header
				columns++
			}
		}
		b.WriteString(counted(rows, "row") + ", " + counted(columns, "column"))
		if d.Dropped > 0 {
			fmt.Fprintf(&b, "; %s with holes left out", counted(d.Dropped, "row"))
		}
	} else {
		b.WriteString(counted(len(d.Columns), "variable"))
	}
	b.WriteString("\n\n")
	head := []string{"column", "name", "type", "values", "missing", "declared"}
	if !d.Table {
		head[0] = "shape"
	}
	rows := [][]string{head}
	for _, j := range d.Columns {
		first, missing := escaped(j.Column), ""
		if !d.Table && (j.Type != "sparse matrix" || j.Shape != nil) && j.Type != "tuple" {
			first = shapeText(j.Shape)
		}
		if j.Missing > 0 {
			missing = strconv.Itoa(j.Missing)
		}
		declared := escaped(j.Declared)
		if path != "" && declared == "" {
			declared = "(not in the model)"
		}
		rows = append(rows, []string{first, j.Name, j.Type, j.values(), missing, declared})
	}
	width, _, _ := terminalSize(stdout)
	writeLeft(&b, rows, width)
	d.advise(&b)
	if len(d.Needs) > 0 {
		b.WriteString("\nThe model also needs:\n")
		var needs [][]string
		for _, n := range d.Needs {
			how := n.Flag
			if how == "" {
				how = "not in the data"
			}
			if n.RowsOf != "" {
				how = "the rows for each level of " + n.RowsOf
			}
			if n.Value != nil {
				switch {
				case n.Of != "":
					how = counted(*n.Value, "level") + " of " + n.Of
					if n.Of == n.Name {
						how = counted(*n.Value, "label")
					}
				case n.SizeOf != "":
					how = strconv.Itoa(*n.Value) + ", the size of " + n.SizeOf
				default:
					how = counted(*n.Value, "row")
				}
			}
			needs = append(needs, []string{"  " + n.Name, escaped(n.Declared), how})
		}
		writeLeft(&b, needs, width)
	}
	if len(d.Command) > 0 {
		b.WriteString("\nThe data fit the model. To run it:\n  " + shellWords(d.Command) + "\n")
	}
	if _, err := io.WriteString(stdout, b.String()); err != nil || len(d.list) == 0 {
		return err
	}
	io.WriteString(stderr, "\n")
	return diag.Render(stderr, wordedList(d.list), diagOptions(stderr))
}

// shapeText returns a shape as text for a table: 8 × 3, or "scalar".
func shapeText(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	var parts []string
	for _, n := range shape {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, " × ")
}

// writeLeft writes rows of cells, aligned on the left. Columns without any text are left out.
func writeLeft(b *strings.Builder, rows [][]string, width int) {
	widths := make([]int, len(rows[0]))
	for k, row := range rows {
		for c, text := range row {
			if k > 0 || len(rows) == 1 || c == 0 {
				widths[c] = max(widths[c], utf8.RuneCountInString(text))
			}
		}
	}
	for c := range widths {
		if widths[c] > 0 {
			widths[c] = max(widths[c], utf8.RuneCountInString(rows[0][c]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for c, text := range row {
			if widths[c] > 0 {
				line.WriteString(text + strings.Repeat(" ", widths[c]-utf8.RuneCountInString(text)+2))
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if width > 0 {
			text = cut(text, width)
		}
		b.WriteString(text + "\n")
	}
}

// shellWords quotes words for a POSIX shell.
func shellWords(words []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:@%+,-"
	var out []string
	for _, w := range words {
		if w == "" || strings.Trim(w, plain) != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// counted returns a number with its noun, such as 1 row or 2 rows.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
