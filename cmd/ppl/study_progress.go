package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/study"
)

// studyProgress shows the progress of a study, as text or as JSON. On a terminal, the text is one
// line that is overwritten; elsewhere, it is a line from time to time.
type studyProgress struct {
	w    io.Writer
	json bool

	mu    sync.Mutex
	last  time.Time
	shown bool // the last line can be overwritten
	at    int  // number of fits already reported
}

// studyPause is the minimum time between two lines if lines are not overwritten.
const studyPause = 5 * time.Second

func (t *studyProgress) tell(p study.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.json {
		writeJSON(t.w, p)
		return
	}
	text := studyLine(p)
	width, _, terminal := terminalSize(t.w)
	switch {
	case terminal:
		io.WriteString(t.w, "\r"+cut(text, width-1)+clearLine)
		if t.shown = !p.Finished; p.Finished {
			io.WriteString(t.w, "\n")
		}
	case p.Finished && t.at != p.Done || time.Since(t.last) > studyPause && t.at != p.Done:
		t.last, t.at = time.Now(), p.Done
		fmt.Fprintln(t.w, text)
	}
}

func (t *studyProgress) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.json {
		writeJSON(t.w, studyNote{text})
		return
	}
	if t.shown {
		io.WriteString(t.w, "\r"+clearLine)
		t.shown = false
	}
	printMessage(t.w, "%s", text)
}

// overwritten shows progress as one line that is overwritten on a terminal, and as separate lines
// elsewhere.
type overwritten struct {
	w     io.Writer
	shown bool
}

func (o *overwritten) show(text string) {
	if width, _, terminal := terminalSize(o.w); terminal {
		io.WriteString(o.w, "\r"+cut(shown(o.w, text), width-1)+clearLine)
		o.shown = true
		return
	}
	fmt.Fprintln(o.w, text)
}

// end removes the line.
func (o *overwritten) end() {
	if o.shown {
		io.WriteString(o.w, "\r"+clearLine)
		o.shown = false
	}
}

// studyLine describes the progress of a study.
func studyLine(p study.Progress) string {
	text := fmt.Sprintf("%d of %s", p.Done, count(p.Total, "fit", "fits"))
	if p.Reused > 0 {
		text += fmt.Sprintf(" (%d there already)", p.Reused)
	}
	if p.Problems > 0 {
		text += fmt.Sprintf(", %d with problems", p.Problems)
	}
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Rate > 0 {
		text += fmt.Sprintf("; %.3g per second", p.Rate)
	}
	switch {
	case p.Finished:
		text += "; " + clockOf(p.Seconds)
	case p.Left >= 0:
		text += "; about " + clockOf(p.Left) + " left"
	}
	return text
}

func clockOf(seconds float64) string { return clock(duration(seconds)) }

// studyNote is a remark between the lines of --progress json.
type studyNote struct {
	Note string `json:"note"` // the remark
}
