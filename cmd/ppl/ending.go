package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ppl-lang/ppl/infer"
)

// This file ends commands early, by Ctrl-C or --time-limit. Both end the context of the command,
// and the work in progress checks whether the context has ended.

// timeLimitError is the cause when --time-limit ends a command.
type timeLimitError struct{ limit time.Duration }

func (e *timeLimitError) Error() string {
	return fmt.Sprintf("the time limit of %s is reached", e.limit)
}

// limitTime ends the context of a command after --time-limit.
func limitTime(ctx context.Context, in *input) (context.Context, error) {
	switch limit := in.timeLimit; {
	case limit < 0:
		return nil, usagef("--time-limit must be positive, but is %s", limit)
	case limit > 0:
		limited, cancel := context.WithTimeoutCause(ctx, limit, &timeLimitError{limit})
		context.AfterFunc(ctx, cancel)
		return limited, nil
	}
	return ctx, nil
}

// timeUp returns the cause if --time-limit has ended a context, otherwise nil.
func timeUp(ctx context.Context) *timeLimitError {
	e, _ := errors.AsType[*timeLimitError](context.Cause(ctx))
	return e
}

// asked returns a function for evaluations that returns an error when ctx has ended.
func asked(ctx context.Context) func() error {
	return func() error {
		if ctx.Err() == nil {
			return nil
		}
		return fmt.Errorf("%w: %w", infer.ErrInterrupted, context.Cause(ctx))
	}
}

// interruptible returns a context that the first Ctrl-C cancels, after a message if stderr is a
// terminal. The second Ctrl-C ends the program.
func interruptible(ctx context.Context, tell func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			if tell != nil {
				tell()
			}
			cancel()
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, cancel
}

// ended replaces the error of a command that was ended early. After Ctrl-C, the new error is the
// exit code; after --time-limit, it is a message that the time is up. The unfinished work is lost.
func ended(ctx context.Context, stderr io.Writer, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case timeUp(ctx) == nil:
		fmt.Fprintln(stderr, "Interrupted.")
		return exitCode(exitInterrupted)
	case !errors.As(err, new(*timeLimitError)): // if so, err itself says what is unfinished
		err = timeUp(ctx)
	}
	return fmt.Errorf("%w; what was computed till then is lost", err)
}

// grace is the time that a command may take after its early end to compute the quantities at the
// last point.
const grace = time.Second
