package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// workerOptions are the options of a worker.
type workerOptions struct {
	parallel int
	program  string
}

// worker makes fits.
type worker struct {
	queue   *queue
	options workerOptions
	stderr  io.Writer
	name    string

	mu     sync.Mutex
	held   map[jetstream.Msg]bool // messages taken from the queue that have no result yet
	models map[string][]byte
	quick  bool // fits are so short that the next units are fetched in advance
}

// work runs fits until ctx ends. Unfinished units then return to the queue.
func work(ctx context.Context, q *queue, o workerOptions, stderr io.Writer) error {
	path, err := exec.LookPath(o.program)
	if err != nil {
		return fmt.Errorf("a worker needs the program ppl: %w", err)
	}
	o.program = path
	host, _ := os.Hostname()
	w := &worker{queue: q, options: o, stderr: stderr, name: fmt.Sprintf("%s %d", host, os.Getpid()), held: map[jetstream.Msg]bool{}, models: map[string][]byte{}}
	fmt.Fprintf(stderr, "Working for %s, %d at a time.\n", q.conn.ConnectedUrlRedacted(), o.parallel)
	go w.beat(ctx)
	todo := make(chan jetstream.Msg)
	var running sync.WaitGroup
	for range o.parallel {
		running.Go(func() { w.slot(ctx, todo) })
	}
	w.take(ctx, todo)
	close(todo)
	running.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for m := range w.held {
		m.Nak()
	}
	return errors.Join(q.conn.FlushTimeout(2*time.Second), context.Cause(ctx))
}

// beat regularly reports to the server that the worker still has its units.
func (w *worker) beat(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(w.queue.options.ackWait / 3):
		}
		w.mu.Lock()
		for m := range w.held {
			m.InProgress()
		}
		w.mu.Unlock()
	}
}

// take fetches as many units as there are slots, or twice as many if fits are quick.
func (w *worker) take(ctx context.Context, todo chan<- jetstream.Msg) {
	var c jetstream.Consumer
	for ctx.Err() == nil {
		w.mu.Lock()
		free := w.options.parallel - len(w.held)
		if w.quick {
			free += w.options.parallel
		}
		w.mu.Unlock()
		if free <= 0 {
			time.Sleep(200 * time.Microsecond)
			continue
		}
		if c == nil {
			if again(ctx, func() (err error) {
				ctx, cancel := limited(ctx)
				defer cancel()
				c, err = w.queue.js.CreateOrUpdateConsumer(ctx, workStream, jetstream.ConsumerConfig{
					Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: w.queue.options.ackWait, MaxAckPending: -1,
				})
				if err != nil {
					w.queue.ensure(ctx)
				}
				return err
			}) != nil {
				return
			}
		}
		batch, err := c.Fetch(free, jetstream.FetchMaxWait(2*time.Second))
		if err != nil {
			c = nil
			continue
		}
		for m := range batch.Messages() {
			w.mu.Lock()
			w.held[m] = true
			w.mu.Unlock()
			select {
			case todo <- m:
			case <-ctx.Done():
			}
		}
		if err := batch.Error(); err != nil && !errors.Is(err, jetstream.ErrNoMessages) {
			c = nil
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// slot runs units, one after another, in a separate process.
func (w *worker) slot(ctx context.Context, todo <-chan jetstream.Msg) {
	var c *child
	defer func() {
		if c != nil {
			c.stop()
		}
	}()
	for m := range todo {
		if ctx.Err() != nil {
			continue
		}
		began := time.Now()
		if err := w.unit(ctx, m, &c); err != nil && ctx.Err() == nil {
			fmt.Fprintln(w.stderr, "A unit goes back to the queue:", err)
			m.NakWithDelay(time.Second)
		}
		w.mu.Lock()
		if ctx.Err() == nil {
			delete(w.held, m)
		}
		w.quick = time.Since(began) < 500*time.Millisecond
		w.mu.Unlock()
	}
}

// unit runs a unit. It removes the unit from the work queue only after publishing the result.
func (w *worker) unit(ctx context.Context, m jetstream.Msg, c **child) error {
	study := strings.TrimPrefix(m.Subject(), "ppl.work.")
	deliveries := 1
	if meta, err := m.Metadata(); err == nil {
		deliveries = int(meta.NumDelivered)
	}
	body, err := w.queue.body(ctx, m)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return m.Ack() // it was done meanwhile
	}
	if err != nil {
		return err
	}
	f, err := readFrame(bytesReader(body))
	if err != nil {
		return m.Term()
	}
	if deliveries > w.queue.options.tries {
		return w.giveUp(ctx, m, study, f.header.Key, "the workers that it was given to have ended", deliveries-1)
	}
	if *c == nil {
		if *c, err = startChild(w.options.program); err != nil {
			return err
		}
	}
	var result []byte
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, err = (*c).do(f, func(digest string) ([]byte, error) { return w.model(ctx, digest) })
	}()
	select {
	case <-done:
	case <-ctx.Done():
		(*c).cmd.Process.Kill()
		<-done
		*c = nil
		return ctx.Err()
	}
	if err != nil {
		(*c).cmd.Process.Kill()
		*c = nil
		if deliveries >= w.queue.options.tries {
			return w.giveUp(ctx, m, study, f.header.Key, err.Error(), deliveries)
		}
		return err
	}
	if err := w.queue.put(ctx, "ppl.result."+study, "result."+study+f.header.Key, result); err != nil {
		return err
	}
	return w.queue.acknowledge(ctx, m)
}

// giveUp publishes an error as the result of a unit that failed too often, and a dead letter.
func (w *worker) giveUp(ctx context.Context, m jetstream.Msg, study, key, reason string, deliveries int) error {
	if err := w.queue.bury(ctx, dead{study, key, reason, deliveries, w.name, time.Now().UTC()}); err != nil {
		return err
	}
	if err := w.queue.put(ctx, "ppl.result."+study, "result."+study+key, givenUp(key, reason, deliveries)); err != nil {
		return err
	}
	return w.queue.acknowledge(ctx, m)
}

// model returns the text of a model, which is fetched only once.
func (w *worker) model(ctx context.Context, digest string) ([]byte, error) {
	w.mu.Lock()
	text, ok := w.models[digest]
	w.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := w.queue.object(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("the model of a fit is not on the server: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.models) > 1000 {
		clear(w.models)
	}
	w.models[digest] = text
	return text, nil
}
