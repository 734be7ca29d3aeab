package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
)

// The parts of the page.
var (
	//go:embed page/page.html
	frame string
	//go:embed page/page.css
	style string
	//go:embed page/format.js
	formatScript string
	//go:embed page/draw.js
	drawScript string
	//go:embed page/table.js
	tableScript string
	//go:embed page/page.js
	pageScript string
	//go:embed page/live.js
	liveScript string
)

// WriteHTML writes the report as one HTML file that needs no other, nor a network.
func (r *Report) WriteHTML(w io.Writer) error {
	// Marshal escapes <, > and &: the text cannot end the element that it is in.
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	page, _ := page(r.Title, text)
	_, err = w.Write(page)
	return err
}

// mark begins every page.
const mark = "<!-- A report of ppl -->"

// IsPage reports whether a text is a page of this package.
func IsPage(text []byte) bool { return bytes.Contains(text[:min(len(text), 200)], []byte(mark)) }

// LivePage is the page that shows a run while it goes on: it asks the server that it
// comes from for everything. The policy is for the header Content-Security-Policy.
func LivePage(title string) (text []byte, policy string) {
	return page(title, []byte("null"))
}

// page puts style, script and data into the frame. Nothing but its own script may
// run in the page, and it may load nothing, but from the server of a live one.
func page(title string, data []byte) (text []byte, policy string) {
	script := "\"use strict\";\n" + formatScript + drawScript + tableScript + liveScript + pageScript
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
		"{{style}}", style,
		"{{data}}", string(data),
		"{{script}}", script,
	).WriteString(&b, frame)
	return b.Bytes(), policy
}
