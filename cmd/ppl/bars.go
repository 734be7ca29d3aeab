package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
)

// bars shows a bar per chain on a terminal, redrawn in place a few times a second. If the terminal
// has fewer rows than there are chains, it shows one line for all.
//
// A frame consists of the lines below the title. Before the next frame is drawn, the cursor goes up
// by the number of rows that the last frame takes at the present width: terminals wrap lines when
// they become narrower. The new lines overwrite the old ones, and everything below is cleared,
// which also removes an echoed ^C. Clearing before drawing would flicker and, in some terminals,
// keep the old frame in the history.
type bars struct {
	w       io.Writer
	title   string
	unicode bool
	color   bool
	began   time.Time
	ticker  *time.Ticker
	done    chan struct{}
	ended   sync.WaitGroup

	mu     sync.Mutex
	chains []barState
	eta    *eta
	frame  []int
	closed bool
}

// barState is the progress of a chain.
type barState struct {
	infer.Progress
	begun   time.Time // time of its first report
	updated time.Time
}

const frameTime = 100 * time.Millisecond

func newBars(w io.Writer, title string, e *eta) *bars {
	return &bars{w: w, title: title, unicode: unicodeTerminal(), color: colored(w), chains: make([]barState, len(e.chains)), eta: e}
}

func (b *bars) start() {
	b.began = time.Now()
	b.mu.Lock()
	width, _, _ := terminalSize(b.w)
	fmt.Fprintln(b.w, cut(b.title, width-1))
	b.draw()
	b.ticker, b.done = time.NewTicker(frameTime), make(chan struct{})
	b.mu.Unlock()
	b.ended.Go(func() {
		for {
			select {
			case <-b.ticker.C:
				b.mu.Lock()
				b.draw()
				b.mu.Unlock()
			case <-b.done:
				return
			}
		}
	})
}

func (b *bars) update(p infer.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, now := &b.chains[p.Chain], time.Now()
	if c.begun.IsZero() {
		c.begun = now
	}
	c.Progress, c.updated = p, now
	b.eta.update(p, now)
}

func (b *bars) reached(draws int, ess, rhat float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eta.reached(draws, ess, rhat)
}

func (b *bars) message(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text = fitted(b.w, shown(b.w, text))
	if b.done == nil || b.closed { // no frame is shown
		fmt.Fprintln(b.w, text)
		return
	}
	io.WriteString(b.w, b.up()+strings.ReplaceAll(text, "\n", clearLine+"\n")+clearLine+"\n")
	b.frame = nil
	b.draw()
}

func (b *bars) stop(*fit.Fit, bool) {
	if b.done == nil {
		return
	}
	b.ticker.Stop()
	close(b.done)
	b.ended.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.draw()
}

const (
	clearLine  = "\x1b[K" // clears from the cursor to the end of the line
	clearBelow = "\x1b[J"
)

// up returns the sequence that moves the cursor to the beginning of the frame.
func (b *bars) up() string {
	width, _, _ := terminalSize(b.w)
	rows := 0
	for _, length := range b.frame {
		rows += max(1, (length+width-1)/max(width, 1))
	}
	if rows == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", rows)
}

// draw replaces the frame.
func (b *bars) draw() {
	width, height, ok := terminalSize(b.w)
	if !ok {
		return
	}
	var s strings.Builder
	s.WriteString(b.up())
	b.frame = b.frame[:0]
	put := func(text string, length int) {
		s.WriteString(text + clearLine + "\n")
		b.frame = append(b.frame, length)
	}
	if len(b.chains) > height-4 {
		put(b.summary(width - 1))
	} else {
		for i := range b.chains {
			put(b.line(i, width-1))
		}
	}
	if text := cut(b.left(), width-1); text != "" {
		put(b.paint("2", text), utf8.RuneCountInString(text))
	}
	s.WriteString(clearBelow)
	io.WriteString(b.w, s.String())
}

// line shows one chain in at most width columns; it drops the least important parts first. It
// returns the text and its length without colours.
func (b *bars) line(i, width int) (string, int) {
	c := &b.chains[i]
	phase, style := "waiting ", "2"
	switch {
	case c.begun.IsZero():
	case c.Iteration == c.Total:
		phase, style = "done    ", "32"
	case c.Iteration == 0:
		phase, style = "starting", "33"
	case c.Warmup:
		phase, style = "warm-up ", "33"
	default:
		phase, style = "sampling", "36"
	}
	digits := len(fmt.Sprint(len(b.chains)))
	label := fmt.Sprintf("chain %*d ", digits, i+1)
	percent := fmt.Sprintf(" %3d %%", 100*c.Iteration/max(c.Total, 1))
	var extra string
	if c.Iteration == c.Total && !c.begun.IsZero() {
		extra = "  " + clock(c.updated.Sub(c.begun))
	}
	if c.Iteration == 0 && !c.begun.IsZero() {
		if extra = fmt.Sprintf("  %d gradients", c.Gradients); c.Searching {
			extra = fmt.Sprintf("  %d points rejected", c.Rejected)
		}
	}
	if c.Divergences > 0 && !c.Warmup {
		extra += fmt.Sprintf("  %d divergent", c.Divergences)
	}
	const barMin, barMax = 8, 50
	fixed := utf8.RuneCountInString(label + phase + " " + percent)
	if fixed+barMin > width { // very narrow
		short := cut(fmt.Sprintf("%d%s", i+1, percent), width)
		return short, utf8.RuneCountInString(short)
	}
	if fixed+barMin+len(extra) > width {
		extra = ""
	}
	length := min(barMax, width-fixed-max(len(extra), min(24, width-fixed-barMin)))
	bar, filled := b.bar(length, c.Iteration, c.Total)
	n := fixed + length + len(extra)
	return label + b.paint(style, phase) + " " + b.paint(style, bar[:filled]) + b.paint("2", bar[filled:]) + percent + extra, n
}

// summary shows all chains in one line.
func (b *bars) summary(width int) (string, int) {
	done, running, divergent := 0, 0, 0
	sum := 0.0 // sum of the shares of the transitions that the chains have made
	for i := range b.chains {
		c := &b.chains[i]
		sum += float64(c.Iteration) / float64(max(c.Total, 1))
		switch {
		case c.Iteration == c.Total && !c.begun.IsZero():
			done++
		case !c.begun.IsZero():
			running++
		}
		if !c.Warmup {
			divergent += c.Divergences
		}
	}
	text := fmt.Sprintf("%d chains: %d done, %d running, %.0f %%", len(b.chains), done, running, math.Floor(100*sum/float64(len(b.chains))))
	if divergent > 0 {
		text += fmt.Sprintf(", %d divergent", divergent)
	}
	text = cut(text, width)
	return text, utf8.RuneCountInString(text)
}

// bar draws a bar of some columns; filled is the length in bytes of its filled
// part.
func (b *bars) bar(columns, iteration, total int) (bar string, filled int) {
	full, empty := "#", "."
	if b.unicode {
		full, empty = "━", "─"
	}
	n := 0
	if total > 0 {
		n = min(columns, columns*iteration/total)
	}
	bar = strings.Repeat(full, n)
	return bar + strings.Repeat(empty, columns-n), len(bar)
}

// left describes the time left for the whole run; "" in its first seconds and at its end.
func (b *bars) left() string {
	now := time.Now()
	if b.closed || b.began.IsZero() || now.Sub(b.began) < 2*time.Second {
		return ""
	}
	for i := range b.chains {
		if c := &b.chains[i]; c.begun.IsZero() || c.Iteration != c.Total {
			return b.eta.text(now)
		}
	}
	return ""
}

func (b *bars) paint(style, text string) string {
	if !b.color || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// cut shortens text to width characters.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	r := []rune(text)
	if width < 2 {
		return string(r[:max(width, 0)])
	}
	return string(r[:width-1]) + "…"
}
