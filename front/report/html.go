package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
)

// The parts of the page: files in the folder page.
const (
	frame        = "page.html"
	style        = "page.css"
	formatScript = "format.js"
	drawScript   = "draw.js"
	tableScript  = "table.js"
	pageScript   = "page.js"
	liveScript   = "live.js"
	startScript  = "start.js"
	studyScript  = "study.js"
)

// parts returns parts of the page, one after another.
func parts(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		text, err := pages.ReadFile("page/" + name)
		if err != nil {
			return "" // cannot happen: the folder is part of the program
		}
		b.Write(text)
	}
	return b.String()
}

// Parts returns the style and the script of the page, for other pages that show reports: the
// classes Page and SummaryTable, and the code that draws figures. The script starts nothing.
func Parts() (css, script string) {
	return parts(style), "\"use strict\";\n" + parts(formatScript, drawScript, tableScript, pageScript)
}

// WriteHTML writes the report as one self-contained HTML file, which needs no network.
func (r *Report) WriteHTML(w io.Writer) error {
	// Marshal escapes <, > and &, so the text cannot end the element that contains it.
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	page, _ := page(r.Title, text, liveScript, pageScript, startScript)
	_, err = w.Write(page)
	return err
}

// WriteEmbedded writes the report as one HTML element, a frame with the page of WriteHTML, for
// documents and notebooks. It is one line, which Markdown leaves unchanged.
func (r *Report) WriteEmbedded(w io.Writer) error {
	return embedded(w, r.Title, r.WriteHTML)
}

// embedded writes a page within an element.
func embedded(w io.Writer, title string, write func(io.Writer) error) error {
	var page strings.Builder
	if err := write(&page); err != nil {
		return err
	}
	text := strings.NewReplacer("&", "&amp;", "\"", "&quot;", "\n", "&#10;").Replace(page.String())
	_, err := fmt.Fprintf(w, "<iframe title=\"%s\" style=\"width: 100%%; height: 44rem; border: 1px solid #8888; border-radius: 6px; resize: vertical\" srcdoc=\"%s\"></iframe>\n",
		html.EscapeString("Report of "+title), text)
	return err
}

// mark begins every page.
const mark = "<!-- A report of ppl -->"

// IsPage reports whether a text is a page of this package.
func IsPage(text []byte) bool { return bytes.Contains(text[:min(len(text), 200)], []byte(mark)) }

// LivePage returns the page that shows a run in progress. The page gets everything from the server
// that it comes from. policy is for the header Content-Security-Policy.
func LivePage(title string) (text []byte, policy string) {
	return page(title, []byte("null"), liveScript, pageScript, startScript)
}

// page inserts style, script and data into the HTML. own are the parts of the script that only this
// kind of page has. The page may run only its own script, and may load nothing, except from the
// server of a live page.
func page(title string, data []byte, own ...string) (text []byte, policy string) {
	script := "\"use strict\";\n" + parts(formatScript, drawScript, tableScript) + parts(own...)
	sum := sha256.Sum256([]byte(script))
	connect := "'none'"
	if string(data) == "null" {
		connect = "'self'"
	}
	policy = fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; img-src data: blob:; connect-src %s; base-uri 'none'; form-action 'none'",
		base64.StdEncoding.EncodeToString(sum[:]), connect)
	var b bytes.Buffer
	strings.NewReplacer(
		"{{policy}}", policy,
		"{{title}}", html.EscapeString(title),
		"{{style}}", parts(style),
		"{{data}}", string(data),
		"{{script}}", script,
	).WriteString(&b, parts(frame))
	return b.Bytes(), policy
}
