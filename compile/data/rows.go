package data

import (
	"encoding/csv"
	"io"
	"path"
	"strings"
)

// This file reads the rows of a table.

// rowReader reads rows, the header first. [csv.Reader] implements it, and so does plainRows, for
// tables without quotes, as most tables are.
type rowReader interface {
	// Read returns the fields of the next row, which are valid until the next call, or [io.EOF].
	// Another error is a [*csv.ParseError].
	Read() ([]string, error)
	// FieldPos returns the line and column, from 1, of a field in the row that was read last.
	FieldPos(field int) (line, column int)
}

// rowsOf reads the rows of a table. It also reports whether semicolons separate the fields.
func rowsOf(file, text string) (r rowReader, semicolons bool) {
	comma := ','
	if head := headLine(text); strings.ToLower(path.Ext(strings.TrimSuffix(file, ".gz"))) == ".tsv" || !strings.Contains(head, ",") && strings.Contains(head, "\t") {
		comma = '\t'
	} else if !strings.Contains(head, ",") && strings.Contains(head, ";") {
		comma = ';'
	}
	if strings.IndexByte(text, '"') < 0 {
		return &plainRows{text: text, comma: byte(comma)}, comma == ';'
	}
	quoted := csv.NewReader(strings.NewReader(text))
	quoted.Comma, quoted.Comment = comma, '#'
	quoted.ReuseRecord = true
	quoted.TrimLeadingSpace = comma != '\t' // otherwise it would skip the tabs of empty fields
	return quoted, comma == ';'
}

// headLine returns the line with the names of the columns: the first that is neither empty nor a
// comment.
func headLine(text string) string {
	for text != "" {
		line := firstLine(text)
		if plain := strings.TrimSuffix(line, "\r"); plain != "" && plain[0] != '#' {
			return line
		}
		text = text[min(len(line)+1, len(text)):]
	}
	return ""
}

// plainRows reads the rows of a text without quotes as [csv.Reader] does. It skips empty lines,
// lines that begin with #, and blanks before fields. All rows must have as many fields as the
// first.
type plainRows struct {
	text  string // the text that has not been read
	comma byte

	line   int
	width  int // the number of fields of the first row
	fields []string
	at     []int // columns of the fields, from 1
}

// Read implements rowReader.
func (r *plainRows) Read() ([]string, error) {
	for {
		if r.text == "" {
			return nil, io.EOF
		}
		row := r.text
		end := strings.IndexByte(row, '\n')
		if end < 0 {
			r.text = ""
			// Drop a carriage return at the end of the file, as csv.Reader does.
			row = strings.TrimSuffix(row, "\r")
		} else {
			r.text, row = row[end+1:], strings.TrimSuffix(row[:end], "\r")
		}
		r.line++
		if row == "" || row[0] == '#' {
			continue
		}
		return r.split(row)
	}
}

// split splits a row.
func (r *plainRows) split(row string) ([]string, error) {
	r.fields, r.at = r.fields[:0], r.at[:0]
	for pos := 0; ; {
		for pos < len(row) && row[pos] <= ' ' && row[pos] != r.comma {
			pos++
		}
		field := row[pos:]
		end := strings.IndexByte(field, r.comma)
		if end >= 0 {
			field = field[:end]
		}
		r.fields, r.at = append(r.fields, field), append(r.at, pos+1)
		if end < 0 {
			break
		}
		pos += end + 1
	}
	if r.width == 0 {
		r.width = len(r.fields)
	}
	if len(r.fields) != r.width {
		return r.fields, &csv.ParseError{StartLine: r.line, Line: r.line, Column: 1, Err: csv.ErrFieldCount}
	}
	return r.fields, nil
}

// FieldPos implements rowReader.
func (r *plainRows) FieldPos(field int) (line, column int) { return r.line, r.at[field] }
