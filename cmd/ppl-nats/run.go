package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// study is a running study.
type study struct {
	queue *queue
	name  string

	writing sync.Mutex // separate from mu: a write may wait for ppl study, which may wait for mu
	out     *bufio.Writer

	mu          sync.Mutex
	outstanding map[string][]byte        // units without a result, by key; published again if lost
	unacked     map[string]jetstream.Msg // results that `ppl study` has not acknowledged yet
	ended       bool                     // there are no more units
	progress    time.Time                // time of the last result or acknowledgement
	finished    chan struct{}
}

// run sends units from in to the queue and results from the queue to out. It returns when in has
// ended and all results have been received and acknowledged.
func run(ctx context.Context, q *queue, name string, in io.Reader, out io.Writer) error {
	if name == "" {
		return errors.New("--study is missing")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &study{queue: q, name: name, out: bufio.NewWriterSize(out, 1<<16), outstanding: map[string][]byte{}, unacked: map[string]jetstream.Msg{}, progress: time.Now(), finished: make(chan struct{})}
	for _, part := range []func(context.Context) error{func(ctx context.Context) error { return s.units(ctx, in) }, s.results, s.watch} {
		go func() {
			if err := part(ctx); err != nil {
				cancel(err)
			}
		}()
	}
	select {
	case <-s.finished:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := errors.Join(s.write(newFrame(header{Type: "done"}, nil)), s.flush()); err != nil {
		return err
	}
	return q.conn.FlushTimeout(5 * time.Second) // acknowledgements
}

// units processes the frames that `ppl study` sends.
func (s *study) units(ctx context.Context, in io.Reader) error {
	r := buffered(in)
	// Several goroutines publish units, since each waits for the server's confirmation.
	todo := make(chan *frame)
	defer close(todo)
	failed := make(chan error, 16)
	for range 16 {
		go func() {
			for f := range todo {
				if err := s.queue.put(ctx, "ppl.work."+s.name, "unit."+s.name+f.header.Key, f.raw); err != nil {
					failed <- err
				}
			}
		}()
	}
	for {
		f, err := readFrame(r)
		if err != nil {
			return fmt.Errorf("ppl study has ended: %w", err)
		}
		switch f.header.Type {
		case "model":
			if err := s.model(ctx, f); err != nil {
				return err
			}
		case "unit":
			// Do not wait here, since acknowledgements arrive on the same stream. ppl study limits
			// the number of units that it sends.
			s.mu.Lock()
			s.outstanding[f.header.Key] = f.raw
			s.mu.Unlock()
			select {
			case todo <- f:
			case err := <-failed:
				return err
			case <-ctx.Done():
				return nil
			}
		case "ack":
			s.mu.Lock()
			m := s.unacked[f.header.Key]
			delete(s.unacked, f.header.Key)
			delete(s.outstanding, f.header.Key)
			s.progress = time.Now()
			s.mu.Unlock()
			if m != nil {
				s.queue.acknowledge(ctx, m) // else it comes again
			}
			s.check()
		case "end":
			s.mu.Lock()
			s.ended = true
			s.mu.Unlock()
			s.check()
		}
	}
}

// check ends the study when all units have results.
func (s *study) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended && len(s.outstanding) == 0 {
		select {
		case <-s.finished:
		default:
			close(s.finished)
		}
	}
}

// model stores a model as an object, from where workers read it.
func (s *study) model(ctx context.Context, f *frame) error {
	return again(ctx, func() error {
		ctx, cancel := limited(ctx)
		defer cancel()
		_, err := s.queue.objects.GetInfo(ctx, f.header.Digest)
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			_, err = s.queue.objects.PutBytes(ctx, f.header.Digest, f.payload())
		}
		return err
	})
}

// results passes results from the queue to `ppl study`.
func (s *study) results(ctx context.Context) error {
	var c jetstream.Consumer
	for ctx.Err() == nil {
		if c == nil {
			if err := again(ctx, func() (err error) {
				ctx, cancel := limited(ctx)
				defer cancel()
				c, err = s.queue.js.CreateOrUpdateConsumer(ctx, resultStream, jetstream.ConsumerConfig{
					Durable: "study-" + s.name, FilterSubject: "ppl.result." + s.name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 10 * time.Second, MaxAckPending: 10_000,
					InactiveThreshold: 7 * 24 * time.Hour,
				})
				return err
			}); err != nil {
				return err
			}
		}
		batch, err := c.Fetch(256, jetstream.FetchMaxWait(2*time.Second))
		if err != nil {
			c = nil
			continue
		}
		for m := range batch.Messages() {
			body, err := s.queue.body(ctx, m)
			if err != nil { // the object is gone, so this result was already received
				s.queue.acknowledge(ctx, m)
				continue
			}
			f, err := readFrame(bytesReader(body))
			if err != nil {
				s.queue.acknowledge(ctx, m)
				continue
			}
			s.mu.Lock()
			s.unacked[f.header.Key] = m
			s.progress = time.Now()
			s.mu.Unlock()
			if err := s.write(body); err != nil {
				return err
			}
			if len(batch.Messages()) == 0 {
				s.flush() // no further result is waiting
			}
		}
		s.flush()
		if err := batch.Error(); err != nil && !errors.Is(err, jetstream.ErrNoMessages) {
			c = nil // the server has stopped, or has lost the consumer
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

func (s *study) write(frame []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.out.Write(frame)
	return err
}

func (s *study) flush() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.out.Flush()
}

// watch publishes units again that the server has lost, for instance with its disk. It does so when
// no results arrive although the queues are empty.
func (s *study) watch(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(5 * time.Second):
		}
		s.mu.Lock()
		quiet := time.Since(s.progress) > 2*s.queue.options.ackWait && len(s.outstanding) > 0
		s.mu.Unlock()
		if !quiet || !s.empty(ctx) {
			continue
		}
		s.mu.Lock()
		s.progress = time.Now()
		var lost [][2]string
		for key, raw := range s.outstanding {
			lost = append(lost, [2]string{key, string(raw)})
		}
		s.mu.Unlock()
		s.queue.ensure(ctx)
		for _, u := range lost {
			// A new id, because the server may remember the first one and drop the message.
			id := fmt.Sprintf("again.%d.%s%s", time.Now().Unix(), s.name, u[0])
			if err := s.queue.put(ctx, "ppl.work."+s.name, id, []byte(u[1])); err != nil {
				return err
			}
		}
	}
}

// empty reports whether the queues hold nothing of this study.
func (s *study) empty(ctx context.Context) bool {
	ctx, cancel := limited(ctx)
	defer cancel()
	for _, x := range [][2]string{{workStream, "ppl.work."}, {resultStream, "ppl.result."}} {
		stream, err := s.queue.js.Stream(ctx, x[0])
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			return false
		}
		info, err := stream.Info(ctx, jetstream.WithSubjectFilter(x[1]+s.name))
		if err != nil || len(info.State.Subjects) > 0 {
			return false
		}
	}
	return true
}
