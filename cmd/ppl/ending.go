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

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/infer"
)

// This file: how commands end before they are done, by Ctrl-C or --time-limit. Their
// context is that of the command; what is under way asks it.

// timeLimitError is why a command with --time-limit ends.
type timeLimitError struct{ limit time.Duration }

func (e *timeLimitError) Error() string {
	return fmt.Sprintf("the time limit of %s is reached", e.limit)
}

// timeLimitFlag declares --time-limit, for all that a command does: it ends the context of
// the command.
func timeLimitFlag(cmd *cobra.Command) {
	limit := cmd.Flags().Duration("time-limit", 0, "end after that time, such as 90s or 2h; the time to compile and bind the model counts")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case *limit < 0:
			return usagef("--time-limit must be positive, but is %s", *limit)
		case *limit == 0:
			return nil
		}
		ctx, cancel := context.WithTimeoutCause(cmd.Context(), *limit, &timeLimitError{*limit})
		context.AfterFunc(cmd.Context(), cancel)
		cmd.SetContext(ctx)
		return nil
	}
}

// timeUp is not nil if --time-limit has ended a context.
func timeUp(ctx context.Context) *timeLimitError {
	e, _ := errors.AsType[*timeLimitError](context.Cause(ctx))
	return e
}

// asked is what evaluations ask whether to go on: until ctx ends.
func asked(ctx context.Context) func() error {
	return func() error {
		if ctx.Err() == nil {
			return nil
		}
		return fmt.Errorf("%w: %w", infer.ErrInterrupted, context.Cause(ctx))
	}
}

// interruptible is a context that Ctrl-C cancels, after it has been told if there
// is somebody to tell; the second ends the program.
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

// ended makes of the error of a command what it ends with, where it was ended early: the
// exit code after Ctrl-C, or that the time is up. What it was doing is lost.
func ended(ctx context.Context, stderr io.Writer, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case timeUp(ctx) == nil:
		fmt.Fprintln(stderr, "Interrupted.")
		return exitCode(exitInterrupted)
	case !errors.As(err, new(*timeLimitError)): // which says what was being done, too
		err = timeUp(ctx)
	}
	return fmt.Errorf("%w; what was computed till then is lost", err)
}

// grace is how long the quantities at a point may take that is kept where a command was
// ended early.
const grace = time.Second
