package diag

import "strings"

// Explanation is the content of the doc comment of a code.
type Explanation struct {
	Code    Code
	Name    string // of the Go constant
	Title   string // one line
	Text    string // optional paragraphs
	Example string // a program for which the code is reported
	Fixed   string // the program without the mistake
	File    string // the Go file that declares it, such as codes.go
}

// Explain returns the explanation of a code.
func Explain(code Code) (Explanation, bool) {
	for _, e := range Explanations() {
		if e.Code == code {
			return e, true
		}
	}
	return Explanation{}, false
}

// Explanations lists all codes in order of declaration, file by file.
//
// They are read from the embedded source of this package. So each code is described once, and Go
// documentation shows the description too.
func Explanations() []Explanation {
	files, err := codeFiles.ReadDir(".")
	if err != nil {
		return nil // cannot happen: the directory is part of the program
	}
	var out []Explanation
	for _, f := range files {
		text, err := codeFiles.ReadFile(f.Name())
		if err != nil {
			continue
		}
		out = append(out, explanations(f.Name(), string(text))...)
	}
	return out
}

// explanations finds the pairs of comment and constant. The files are formatted by gofmt (a test
// checks this), so the beginning of a line determines its kind.
func explanations(file, text string) []Explanation {
	var out []Explanation
	var comment []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimPrefix(line, "\t")
		if c, ok := strings.CutPrefix(line, "//"); ok {
			comment = append(comment, c)
			continue
		}
		if name, value, ok := strings.Cut(line, ` Code = "`); ok && !strings.Contains(name, "\t") {
			e := explanation(strings.TrimSpace(name), comment)
			e.Code, e.File = Code(strings.TrimSuffix(value, `"`)), file
			out = append(out, e)
		}
		comment = nil
	}
	return out
}

// explanation parses a comment, whose lines come without their "//".
func explanation(name string, comment []string) Explanation {
	e := Explanation{Name: name}
	into := &e.Text
	for i, line := range comment {
		body, indented := strings.CutPrefix(line, "\t")
		line = strings.TrimPrefix(line, " ")
		switch {
		case i == 0:
			e.Title = strings.TrimSuffix(strings.TrimPrefix(line, name+": "), ".")
		case line == "Example:":
			into = &e.Example
		case line == "Fixed:":
			into = &e.Fixed
		case indented:
			*into += body + "\n"
		case into == &e.Text || *into != "": // an empty line within a program
			*into += line + "\n"
		}
	}
	for _, s := range []*string{&e.Text, &e.Example, &e.Fixed} {
		*s = strings.Trim(*s, "\n")
		if *s != "" {
			*s += "\n"
		}
	}
	return e
}
