package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/front/httpd"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/infer"
)

// watching shows a run in progress in a browser. Several goroutines may call its methods.
type watching struct {
	vars    string // --vars
	title   string
	options report.Options
	out     string // the folder of the run; "" if there is none
	server  *httpd.Server
	stop    func() // ends the run
	live    report.Live
	ended   chan struct{} // closed when the server has ended
	close   context.CancelFunc

	mu        sync.Mutex
	began     time.Time
	eta       *eta
	chains    []watchedChain
	total     int // transitions per chain
	stopping  bool
	finishing bool
	sofar     func() *fit.Fit
	viewers   int
	version   int
	text      []byte        // the report for that version
	last      []byte        // the report of the whole run, once it exists
	changed   chan struct{} // closed when any of these has changed
}

// watchedChain is the progress of a chain in the form sent to the page.
type watchedChain struct {
	ID          int    `json:"id"`          // number of the chain, from 1
	Iteration   int    `json:"iteration"`   // transitions made, warm-up included
	Total       int    `json:"total"`       // transitions planned
	Phase       string `json:"phase"`       // waiting, warm-up, sampling or done
	Divergences int    `json:"divergences"` // divergent transitions so far
}

// watchedRun is the progress of the run in the form sent to the page.
type watchedRun struct {
	Title     string         `json:"title"`     // name of the run
	Seconds   float64        `json:"seconds"`   // time since its start
	Left      string         `json:"left"`      // estimated time to the end, in words; "" if it is not known
	Stopping  bool           `json:"stopping"`  // whether it was asked to stop
	Finishing bool           `json:"finishing"` // whether sampling is over and the report is being made
	Chains    []watchedChain `json:"chains"`    // progress of each chain
}

// How often pages get progress, and the minimum time between two plots of the draws. Plots are also
// limited to a small part of the time of the run.
const (
	watchEvery   = 500 * time.Millisecond
	refreshEvery = 1500 * time.Millisecond
	refreshPart  = 20
)

// watchAt listens at the address and begins to serve the page.
func (o *runOptions) watchAt(address, title string, stop func()) (*watching, error) {
	server, err := httpd.Listen(httpd.Options{Address: address, Token: os.Getenv(tokenVariable), Grace: 5 * time.Second})
	if err != nil {
		return nil, fmt.Errorf("--watch: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watching{title: title, vars: o.rows.vars, out: o.out, server: server, stop: stop, close: cancel, ended: make(chan struct{}), total: o.warmup + o.draws, eta: newETA(o),
		began: time.Now(), chains: make([]watchedChain, o.chains), changed: make(chan struct{}),
		options: report.Options{Title: title, Seed: 1, Words: func(settings []string) []string { return wordsFor(settings, o.out) }}}
	for i := range w.chains {
		w.chains[i] = watchedChain{ID: i + 1, Total: w.total, Phase: "waiting"}
	}
	page, policy := report.LivePage(title)
	// Anybody may read the page, since it reveals nothing. The token is in the part of the page's
	// address that browsers do not send.
	server.HandleOpen("GET /{$}", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		rw.Header().Set("Content-Security-Policy", policy)
		rw.Write(page)
	}))
	server.Handle("GET /events", http.HandlerFunc(w.events))
	server.Handle("GET /report", http.HandlerFunc(w.report))
	server.Handle("GET /quantity", http.HandlerFunc(w.quantity))
	server.Handle("POST /stop", http.HandlerFunc(w.stopRun))
	go func() {
		defer close(w.ended)
		_ = server.Serve(ctx) // the run goes on even if the page cannot be served
	}()
	go w.refresh(ctx)
	return w, nil
}

// url returns the address of the page.
func (w *watching) url() string { return w.server.URL() + "/#token=" + w.server.Token() }

// change makes a change and wakes the goroutines that wait for changes.
func (w *watching) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}

// update records the progress of a chain.
func (w *watching) update(p infer.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.eta.update(p, time.Now())
	c := &w.chains[p.Chain]
	c.Iteration, c.Total, c.Divergences, c.Phase = p.Iteration, p.Total, p.Divergences, "sampling"
	if p.Warmup {
		c.Phase, c.Divergences = "warm-up", 0
	}
	if p.Iteration == p.Total {
		c.Phase = "done"
	}
}

// reached records the progress towards the target of --target-ess.
func (w *watching) reached(draws int, ess, rhat float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.eta.reached(draws, ess, rhat)
}

// follow sets the function that returns the fit so far.
func (w *watching) follow(sofar func() *fit.Fit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sofar, w.began = sofar, time.Now()
}

// state returns the progress to send to pages.
func (w *watching) state() watchedRun {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := watchedRun{Title: w.title, Seconds: time.Since(w.began).Seconds(), Stopping: w.stopping, Finishing: w.finishing, Chains: append([]watchedChain{}, w.chains...)}
	if s.Seconds > 2 { // earlier, it would only flicker
		s.Left = w.eta.text(time.Now())
	}
	return s
}

// events sends progress to a page until the report of the whole run exists.
func (w *watching) events(rw http.ResponseWriter, r *http.Request) {
	w.change(func() { w.viewers++ })
	defer w.change(func() { w.viewers-- })
	stream := httpd.NewStream(rw)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	seen := 0
	var told []byte
	for {
		w.mu.Lock()
		version, last, changed := w.version, w.last, w.changed
		w.mu.Unlock()
		if last != nil {
			_ = stream.Send("report", bytes.NewReader(last), int64(len(last)))
			return
		}
		if text, err := asDocument(w.state()); err == nil && !bytes.Equal(text, told) {
			told = text
			if stream.Send("progress", bytes.NewReader(text), int64(len(text))) != nil {
				return
			}
		}
		if version != seen {
			seen = version
			if stream.SendJSON("changed", map[string]int{"version": version}) != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-tick.C:
		}
	}
}

// refresh makes reports of the draws so far as long as a page is open.
func (w *watching) refresh(ctx context.Context) {
	pause := refreshEvery / 5
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		w.mu.Lock()
		sofar, wanted := w.sofar, w.viewers > 0 && !w.finishing
		w.mu.Unlock()
		if sofar == nil || !wanted {
			continue
		}
		begun := time.Now()
		fit := sofar()
		if fit == nil {
			continue
		}
		draws := 0
		for i := range fit.Draws.Chains() {
			draws += fit.Draws.Len(i)
		}
		if draws == 0 {
			continue // warm-up
		}
		r, err := w.live.New(ctx, fit, w.optionsFor(fit))
		if err != nil {
			return
		}
		text, err := asDocument(r)
		if err != nil {
			return
		}
		w.change(func() { w.version, w.text = w.version+1, text })
		pause = max(refreshEvery, refreshPart*time.Since(begun))
	}
}

// optionsFor returns the options of a report with the quantities that the user chose.
func (w *watching) optionsFor(fit *fit.Fit) report.Options {
	o := w.options
	o.Chosen = chosenBy(withNumbers(w.vars, fit.VariableFactors))
	return o
}

func (w *watching) report(rw http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	text := w.text
	w.mu.Unlock()
	if text == nil {
		httpd.Fail(rw, &httpd.Error{Status: http.StatusNotFound, Kind: "request", Message: "there are no draws yet"})
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.Write(text)
}

func (w *watching) quantity(rw http.ResponseWriter, r *http.Request) {
	row, err := strconv.Atoi(r.URL.Query().Get("row"))
	q, ok := w.live.Quantity(row)
	if err != nil || !ok {
		httpd.Fail(rw, &httpd.Error{Status: http.StatusNotFound, Kind: "request", Message: "there is no such quantity"})
		return
	}
	httpd.Answer(rw, http.StatusOK, q)
}

func (w *watching) stopRun(rw http.ResponseWriter, _ *http.Request) {
	w.change(func() { w.stopping = true })
	w.stop()
	httpd.Answer(rw, http.StatusOK, map[string]bool{"stopping": true})
}

// finish makes the report of the run, writes it to a file, shows it in open pages and ends the
// server.
func (w *watching) finish(ctx context.Context, fit *fit.Fit, stderr io.Writer) error {
	w.change(func() { w.finishing = true })
	defer w.end()
	r, err := report.New(ctx, fit, w.optionsFor(fit))
	if err != nil {
		return err
	}
	var path string
	if w.out != "" {
		path = filepath.Join(w.out, folder.ReportFile)
	} else {
		dir, err := os.MkdirTemp("", "ppl-report-")
		if err != nil {
			return fmt.Errorf("cannot write the report: %w", err)
		}
		path = filepath.Join(dir, w.title+".html")
	}
	if err := writeReport(r.WriteHTML, path); err != nil {
		return err
	}
	r.File = path
	text, err := asDocument(r)
	if err != nil {
		return err
	}
	w.change(func() { w.last = text })
	fmt.Fprintf(stderr, "Report: %s\n", path)
	return nil
}

// end ends the server as soon as pages have received the last report.
func (w *watching) end() {
	w.close()
	<-w.ended
}
