package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The streams, and the bucket for large objects.
const (
	workStream   = "PPL_WORK"    // units until they have a result; subjects ppl.work.STUDY
	resultStream = "PPL_RESULTS" // results until the study's journal has them; ppl.result.STUDY
	deadStream   = "PPL_DEAD"    // fits that were given up; ppl.dead.STUDY
	bucket       = "PPL_OBJECTS" // models, and large units and results

	objectHeader = "Ppl-Object" // names the object that holds the body of a message
	inline       = 512 << 10    // largest body, in bytes, that is sent within a message
	maxQueued    = 20_000       // maximum number of units in the work queue; adding more waits
	keepObjects  = 30 * 24 * time.Hour
)

// queueOptions are the options for connecting to the server.
type queueOptions struct {
	url, token, ca string
	ackWait        time.Duration // another worker gets the unit if this one is silent for so long
	tries          int           // maximum number of deliveries of a unit before it is given up
}

// queue is a connection to the server and its streams.
type queue struct {
	options queueOptions
	conn    *nats.Conn
	js      jetstream.JetStream
	objects jetstream.ObjectStore
}

// connect connects to the server, and creates missing streams.
func connect(ctx context.Context, o queueOptions, stderr io.Writer) (*queue, error) {
	options := []nats.Option{
		nats.Name("ppl-nats"), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.ReconnectJitter(200*time.Millisecond, 200*time.Millisecond),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil && ctx.Err() == nil {
				fmt.Fprintln(stderr, "The connection is lost, and is made again:", err)
			}
		}),
	}
	if o.token != "" {
		options = append(options, nats.Token(o.token))
	}
	if o.ca != "" {
		options = append(options, nats.RootCAs(o.ca))
	}
	q := &queue{options: o}
	err := again(ctx, func() (err error) {
		if q.conn == nil {
			if q.conn, err = nats.Connect(o.url, options...); err != nil {
				q.conn = nil
				if !temporary(err) {
					return &permanent{fmt.Errorf("cannot connect to %s: %w", o.url, err)}
				}
				fmt.Fprintf(stderr, "Waiting for %s: %v\n", o.url, err)
				return err
			}
		}
		if q.js == nil {
			if q.js, err = jetstream.New(q.conn); err != nil {
				return err
			}
		}
		return q.ensure(ctx)
	})
	if err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

// temporary reports whether connecting to the server again may succeed.
func temporary(err error) bool {
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || strings.Contains(err.Error(), "connection re")
}

// ensure creates the streams and the bucket, if they are missing.
func (q *queue) ensure(ctx context.Context) error {
	for _, s := range []jetstream.StreamConfig{
		{Name: workStream, Subjects: []string{"ppl.work.*"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
			MaxMsgs: maxQueued, Discard: jetstream.DiscardNew, Duplicates: 2 * time.Minute},
		{Name: resultStream, Subjects: []string{"ppl.result.*"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Duplicates: 2 * time.Minute},
		{Name: deadStream, Subjects: []string{"ppl.dead.*"}, Storage: jetstream.FileStorage, MaxAge: keepObjects},
	} {
		if _, err := q.js.CreateOrUpdateStream(ctx, s); err != nil {
			return err
		}
	}
	var err error
	q.objects, err = q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bucket, TTL: keepObjects})
	return err
}

func (q *queue) close() {
	if q.conn != nil {
		q.conn.Close()
	}
}

// permanent is an error that must not be retried.
type permanent struct{ error }

func (p *permanent) Unwrap() error { return p.error }

// again retries until try succeeds, because a killed server may be restarted.
func again(ctx context.Context, try func() error) error {
	wait := 50 * time.Millisecond
	for {
		err := try()
		if stop := (*permanent)(nil); err == nil || errors.As(err, &stop) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
			wait = min(2*wait, 2*time.Second)
		}
	}
}

// limited returns a context with the time limit of one request.
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 10*time.Second)
}

// put publishes a message. A large body is stored as an object that the message names. The server
// drops further messages with the same id.
func (q *queue) put(ctx context.Context, subject, id string, body []byte) error {
	m := nats.NewMsg(subject)
	m.Data = body
	if len(body) > inline {
		if err := again(ctx, func() error {
			ctx, cancel := limited(ctx)
			defer cancel()
			_, err := q.objects.PutBytes(ctx, id, body)
			return err
		}); err != nil {
			return err
		}
		m.Data = nil
		m.Header.Set(objectHeader, id)
	}
	return again(ctx, func() error {
		ctx, cancel := limited(ctx)
		defer cancel()
		_, err := q.js.PublishMsg(ctx, m, jetstream.WithMsgID(id))
		return err
	})
}

// body returns the bytes that were published with put.
func (q *queue) body(ctx context.Context, m jetstream.Msg) ([]byte, error) {
	name := m.Headers().Get(objectHeader)
	if name == "" {
		return m.Data(), nil
	}
	return q.object(ctx, name)
}

// object reads an object.
func (q *queue) object(ctx context.Context, name string) (body []byte, err error) {
	err = again(ctx, func() error {
		ctx, cancel := limited(ctx)
		defer cancel()
		if body, err = q.objects.GetBytes(ctx, name); errors.Is(err, jetstream.ErrObjectNotFound) {
			return &permanent{err}
		}
		return err
	})
	return body, err
}

// acknowledge removes a message and its object.
func (q *queue) acknowledge(ctx context.Context, m jetstream.Msg) error {
	if name := m.Headers().Get(objectHeader); name != "" {
		ctx, cancel := limited(ctx)
		defer cancel()
		if err := q.objects.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
			return err
		}
	}
	return m.Ack()
}

// dead describes a fit that was given up.
type dead struct {
	Study      string    `json:"study"`
	Key        string    `json:"key"`
	Error      string    `json:"error"`
	Deliveries int       `json:"deliveries"`
	Worker     string    `json:"worker"`
	Time       time.Time `json:"time"`
}

// listDead prints the fits that were given up, one JSON object per line.
func (q *queue) listDead(ctx context.Context, w io.Writer) error {
	s, err := q.js.Stream(ctx, deadStream)
	if err != nil {
		return err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	if info.State.Msgs == 0 {
		return nil
	}
	for n := info.State.FirstSeq; n <= info.State.LastSeq; n++ {
		m, err := s.GetMsg(ctx, n)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, string(m.Data)); err != nil {
			return err
		}
	}
	return nil
}

// bury stores a dead letter for a fit that was given up.
func (q *queue) bury(ctx context.Context, d dead) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return q.put(ctx, "ppl.dead."+d.Study, "dead."+d.Study+d.Key, text)
}
