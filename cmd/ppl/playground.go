package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/front/httpd"
	"github.com/ppl-lang/ppl/front/serve"
	playground "github.com/ppl-lang/ppl/front/web"
	durable "github.com/ppl-lang/ppl/internal/files"
)

func playgroundCommand() *cobra.Command {
	var address, export string
	cmd := &cobra.Command{
		Use: "playground",
		Long: `Serves a page on this machine in which you write, check and run models. It has messages as
you type, completion and documentation; data as JSON or CSV; all samplers; and the report of
ppl report. The models run in the browser, in WebAssembly; the page sends nothing anywhere.

With --export, the page is written to a folder instead. Any web server can serve it.

A released program contains the page. A program from go install builds the part for the
browser on first use, with the Go toolchain.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			files := func(ctx context.Context) (map[string][]byte, error) {
				return playgroundFiles(ctx, func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), text) })
			}
			return offer(cmd, address, "export", export, files,
				"The playground is at %s/ (Ctrl-C ends it)\n", "The playground is in %s: offer the folder by any web server.\n")
		},
	}
	declare(cmd).String(&address, "listen", "127.0.0.1:8722")
	declare(cmd).String(&export, "export", "")
	return cmd
}

// playgroundFiles returns the files of the playground's folder.
func playgroundFiles(ctx context.Context, say func(string)) (map[string][]byte, error) {
	files, err := playground.Page()
	if err != nil {
		return nil, err
	}
	engine, err := playground.Engine(ctx, say)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, engine)
	return files, nil
}

// offer serves files on this machine at the address or, if the flag is given, writes them to a
// folder. served and written are the messages, with a verb for the address or the folder.
func offer(cmd *cobra.Command, address, flag, dir string, files func(context.Context) (map[string][]byte, error), served, written string) error {
	export := cmd.Flags().Changed(flag)
	var server *httpd.Server
	if export {
		if err := exportable("--"+flag, dir); err != nil {
			return err
		}
	} else {
		var err error
		if server, err = httpd.Listen(httpd.Options{Address: address, Grace: time.Second}); err != nil {
			return err
		}
		defer server.Close()
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	made, err := files(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return exitCode(exitInterrupted)
		}
		return err
	}
	if export {
		if err := exportFiles(dir, made); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), written, dir)
		return nil
	}
	// The server starts no more processes from here on. Harden protects its memory from other
	// processes of the user.
	if err := serve.Harden(); err != nil {
		return err
	}
	serveFiles(server, made)
	fmt.Fprintf(cmd.OutOrStdout(), served, server.URL())
	return server.Serve(ctx)
}

// serveFiles makes the server serve the files.
func serveFiles(server *httpd.Server, files map[string][]byte) {
	answer := func(name string) http.Handler {
		kind := mime.TypeByExtension(path.Ext(name))
		switch path.Ext(name) { // the same on every system
		case ".html":
			kind = "text/html; charset=utf-8"
		case ".js":
			kind = "text/javascript; charset=utf-8"
		case ".css":
			kind = "text/css; charset=utf-8"
		case ".json":
			kind = "application/json"
		case ".lzma":
			kind = "application/x-lzma"
		case ".svg":
			kind = "image/svg+xml"
		default:
			if kind == "" {
				kind = "text/plain; charset=utf-8"
			}
		}
		text := files[name]
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'") // no page may show it in a frame
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			if r.Method != http.MethodHead {
				w.Write(text)
			}
		})
	}
	for name := range files {
		server.HandleOpen("GET /"+name, answer(name))
	}
	server.HandleOpen("GET /{$}", answer("index.html"))
}

// exportable returns an error unless a folder is empty or does not exist.
func exportable(flag, dir string) error {
	if dir == "" {
		return usagef("%s needs the name of a folder", flag)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("the folder %s is not empty", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return plainPathError(err)
	}
	return nil
}

// exportFiles creates a folder and writes the files to it.
func exportFiles(dir string, files map[string][]byte) error {
	if err := durable.MakeFolder(dir); err != nil {
		return plainPathError(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := durable.MakeFolder(filepath.Join(dir, filepath.FromSlash(path.Dir(name)))); err != nil {
			return plainPathError(err)
		}
		if err := durable.Replace(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return plainPathError(err)
		}
	}
	return nil
}
