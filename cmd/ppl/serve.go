package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/front/httpd"
	"github.com/ppl-lang/ppl/front/serve"
	"github.com/ppl-lang/ppl/lang/source"
)

// tokenVariable is the environment variable with the token of the server.
const tokenVariable = "PPL_TOKEN"

// serveOptions has the options of the command serve.
type serveOptions struct {
	workerOptions
	web       httpd.Options
	bodies    int64
	tokenFile string
	quiet     bool
}

// workerOptions has the options of the processes that work on models.
type workerOptions struct {
	limits    serve.Limits
	processes int
	short     int
	queue     int
	sandbox   bool // a sandbox is required
}

// flags declares the options. without names limits that have no flag.
func (o *workerOptions) flags(f declaring, without ...string) {
	f.Int(&o.processes, "processes", runtime.GOMAXPROCS(0))
	f.Int(&o.short, "short-processes", max(1, runtime.GOMAXPROCS(0)/2))
	f.Int(&o.queue, "queue", 64)
	f.Bool(&o.sandbox, "require-sandbox", false)
	for _, row := range serve.Table {
		if !slices.Contains(without, row.Name) {
			f.limit(row, &o.limits)
		}
	}
}

// server makes a server, and tries out which walls its processes have.
func (o *workerOptions) server(ctx context.Context, kinds []string, bodies int64, log *slog.Logger) (*serve.Server, serve.Walls, error) {
	if err := serve.Harden(); err != nil {
		return nil, serve.Walls{}, fmt.Errorf("cannot protect the server's memory from other processes: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, serve.Walls{}, err
	}
	if runtime.GOOS == "linux" {
		program = "/proc/self/exe" // this very program, even if its file has been replaced
	}
	server, err := serve.New(serve.Options{
		Command: func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, program, workName)
			cmd.Args[0] = os.Args[0]
			cmd.Env = []string{} // the environment may have tokens and keys of other programs
			return cmd
		},
		Kinds:          kinds,
		Short:          shortKinds,
		Limits:         o.limits,
		Processes:      o.processes,
		ShortProcesses: o.short,
		Queue:          o.queue,
		Bodies:         bodies,
		Log:            log,
	})
	if err != nil {
		return nil, serve.Walls{}, usage(err)
	}
	walls, err := server.Probe(ctx)
	if err == nil && o.sandbox && !walls.Confined() {
		err = errors.New("this system cannot confine the processes of models, as --require-sandbox asks: that needs Linux with seccomp, on amd64 or arm64. doc/how-to/serve.md describes the risk without it")
	}
	return server, walls, err
}

// announce reports how the processes are confined.
func (o *workerOptions) announce(stderr io.Writer, walls serve.Walls) {
	if walls.Confined() {
		printMessage(stderr, "Processes of models are confined by %v.", walls)
	} else {
		printMessage(stderr, "This system does not confine the processes of models: an attacker who takes one over can do what this user can. --require-sandbox refuses to start in that case.")
	}
	if !serve.MemoryEnforced {
		printMessage(stderr, "This system does not enforce --max-memory.")
	}
}

func serveCommand() *cobra.Command {
	o := serveOptions{workerOptions: workerOptions{limits: serve.DefaultLimits()}}
	cmd := &cobra.Command{
		Use: "serve",
		Long: `Answers requests over HTTP: POST /v1/check, /v1/run, /v1/logdensity and
/v1/summary, with JSON; GET /metrics for Prometheus, /v1/limits and /healthz.
doc/how-to/serve.md describes the requests, and what untrusted models can and
cannot do.

Each request gets a separate process, with limits of time, memory and others. If a
request exceeds a limit, its process ends and nothing else. If you close the
connection, the work ends. On Linux, seccomp and Landlock confine the processes;
at its start the server shows what the system offers.

Requests need a token, in the header Authorization: Bearer TOKEN. Set it with the
environment variable ` + tokenVariable + ` or with --token-file; otherwise the server
makes a random one and prints it. The server listens on this machine only, unless
--remote permits other addresses. It does not encrypt.

Ctrl-C or SIGTERM ends the server; running requests have the time --grace to end.`,
		Example: `  ppl serve
  PPL_TOKEN=$(cat token) ppl serve --listen 127.0.0.1:9000 --max-seconds 10`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.serve(cmd.Context(), cmd.ErrOrStderr()) },
	}
	f := declare(cmd)
	f.String(&o.web.Address, "listen", "127.0.0.1:8417")
	f.Bool(&o.web.Remote, "remote", false)
	f.String(&o.tokenFile, "token-file", "")
	f.Int64(&o.bodies, "max-bodies", 0)
	o.workerOptions.flags(f)
	f.Duration(&o.web.Drain, "drain", 0)
	f.Duration(&o.web.Grace, "grace", 10*time.Second)
	f.Bool(&o.quiet, "quiet", false)
	return cmd
}

// token returns the token of the server; "" if none is given.
func (o *serveOptions) token() (string, error) {
	if o.tokenFile == "" {
		return os.Getenv(tokenVariable), nil
	}
	text, err := source.ReadFile(o.tokenFile, 1<<16)
	if err != nil {
		return "", fmt.Errorf("cannot read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("%s: there is no token", o.tokenFile)
	}
	return token, nil
}

func (o *serveOptions) serve(ctx context.Context, stderr io.Writer) error {
	token, err := o.token()
	if err != nil {
		return err
	}
	o.web.Token = token
	if o.bodies == 0 {
		o.bodies = serve.DefaultBodies(o.limits)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		// Limit memory to the bodies and the server's own needs. By default, Go would let memory
		// grow to twice as much before it collects bodies that are no longer needed.
		debug.SetMemoryLimit(o.bodies + 64<<20)
	}
	level := slog.LevelInfo
	if o.quiet {
		level = slog.LevelError
	}
	ctx, stop := interruptible(ctx, nil)
	defer stop()
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	server, walls, err := o.server(ctx, workKinds(), o.bodies, log)
	if err != nil {
		return err
	}
	w, err := httpd.Listen(o.web)
	if err != nil {
		return err
	}
	server.Mount(w)
	printMessage(stderr, "Listening on %s", w.URL())
	o.announce(stderr, walls)
	if token == "" {
		printMessage(stderr, "The token is %s", w.Token())
	}
	return w.Serve(ctx)
}
