package lsp

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/creachadair/jrpc2"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/source"
)

// workspace holds the open documents and the programs that they belong to.
//
// A document is a separate program, or a file that another program includes. It is then analysed as
// a part of that program, its host, which may be open or a file in the same folder.
type workspace struct {
	server *server

	mu        sync.Mutex
	documents map[string]*document // open documents, by URI
	analysed  map[string]*program  // by the URI of an open document: the newest program that it was a part of
	published map[string]published // by the URI of a program
	checked   map[string]checked   // by URI: diagnostics of checks with data
	checks    int                  // number of checks with data
	outlines  map[string]outlined  // by path: what files that are not open declare

	analyses   atomic.Int64 // number of analyses
	publishing sync.Mutex   // held while diagnostics are sent, to keep their order
	ints       intsCache

	// analysing is held while an open document is analysed. A version that is overtaken while it
	// waits is never analysed, so that a burst of changes costs about as much as two.
	analysing sync.Mutex
	waiting   map[string]bool // by URI: a goroutine will publish diagnostics of the newest version
}

// document is one version of an open text.
type document struct {
	uri     string
	path    string // "": no file
	version int
	number  int64 // of the message that brought this version
	file    *source.File
	saved   bool // the text equals the file

	// analysis is the program that the document is, analysed when first needed. It is nil if a
	// newer version has come before that.
	analysis func() *program
	host     func() *program // the program of which it is a part; usually itself
}

// program is an analysed program.
type program struct {
	*service.Snapshot
	uri     string
	path    string
	version *int  // of the open document; nil: not open
	number  int64 // differs for each analysis
}

func newWorkspace(s *server) *workspace {
	return &workspace{server: s, documents: map[string]*document{}, analysed: map[string]*program{}, published: map[string]published{}, checked: map[string]checked{}, waiting: map[string]bool{}, outlines: map[string]outlined{}}
}

// put sets the text of a document.
func (w *workspace) put(ctx context.Context, uri string, version int, text string, saved bool) *document {
	path := pathOf(uri)
	name := path
	if name == "" {
		name = uri
	}
	number, _ := ctx.Value(numberKey{}).(int64)
	d := &document{uri: uri, path: path, version: version, number: number, file: source.NewFile(name, text), saved: saved}
	w.mu.Lock()
	w.documents[uri] = d
	delete(w.checked, uri)
	w.renew(d)
	w.mu.Unlock()
	return d
}

// renew forgets the analysis of a document and of those that include it.
func (w *workspace) renew(changed *document) {
	for _, d := range w.documents {
		if d == changed || changed == nil || d.uses(changed.path) {
			d.analysis = sync.OnceValue(func() *program { return w.analyse(d) })
		}
		d.host = sync.OnceValue(func() *program {
			host := w.findHost(d)
			w.mu.Lock()
			defer w.mu.Unlock()
			if host != nil && w.documents[d.uri] != nil {
				w.analysed[d.uri] = host
			}
			return host
		})
	}
}

// uses reports whether the program of a document includes a file, as far as is known.
func (d *document) uses(path string) bool {
	if path == "" {
		return false
	}
	return strings.Contains(d.file.Text, "#include")
}

// own returns the program of a document alone; nil if its version is overtaken.
func (w *workspace) own(d *document) *program {
	return w.of(d, func(d *document) func() *program { return d.analysis })
}

// host returns the program that a document is a part of; nil if its version is overtaken.
func (w *workspace) host(d *document) *program {
	return w.of(d, func(d *document) func() *program { return d.host })
}

func (w *workspace) of(d *document, which func(*document) func() *program) *program {
	w.mu.Lock()
	f := which(d)
	w.mu.Unlock()
	return f()
}

// get returns an open document. It returns errOvertaken if the message of the context came before
// the document's newest version: positions in the message are then those of an older text.
func (w *workspace) get(ctx context.Context, uri string) (*document, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.documents[uri]
	if d == nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%s is not open", uri)
	}
	if number, ok := ctx.Value(numberKey{}).(int64); ok && d.number > number {
		return nil, errOvertaken
	}
	return d, nil
}

// open lists the open documents.
func (w *workspace) open() []*document {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*document
	for _, d := range w.documents {
		out = append(out, d)
	}
	sorting.Stable(out, func(a, b *document) int { return strings.Compare(a.uri, b.uri) })
	return out
}

// overtaken reports whether a newer version of a document has arrived, or the document was closed.
func (w *workspace) overtaken(d *document) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.documents[d.uri] != d
}

// errOvertaken answers a request about a version of a document when a newer one has arrived.
var errOvertaken = jrpc2.Errorf(contentModified, "the text has changed meanwhile")

// analyse analyses the program of an open document; nil if the version is overtaken.
func (w *workspace) analyse(d *document) *program {
	w.analysing.Lock()
	defer w.analysing.Unlock()
	if w.overtaken(d) {
		return nil
	}
	p := w.program(d.file, d.path)
	p.uri, p.version = d.uri, &d.version
	return p
}

// program analyses a text as a program.
func (w *workspace) program(f *source.File, path string) *program {
	p := &program{path: path, number: w.analyses.Add(1)}
	if path != "" {
		p.uri = uriOf(path)
	}
	p.Snapshot = service.Analyse(f, service.Options{
		Library:   w.server.options.Library,
		Include:   w.includer(path),
		Functions: functionsOnly(f.Name),
		Ints:      w.ints.dataInts(path),
	})
	return p
}

// functionsOnly reports whether a file is the inside of a functions block.
func functionsOnly(name string) bool { return strings.HasSuffix(name, ".stanfunctions") }

// folders returns the folders that are searched for the includes of a model.
func (w *workspace) folders(path string) []string {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	out := []string{filepath.Dir(path)}
	for _, f := range slices.Concat(w.server.settings.IncludePaths, w.server.options.IncludePaths) {
		if !filepath.IsAbs(f) {
			if root := pathOf(w.server.client.RootURI); root != "" {
				f = filepath.Join(root, f)
			}
		}
		out = append(out, f)
	}
	return out
}

// includer finds the files that a model includes: open documents as they are, others
// from disk, each read once.
func (w *workspace) includer(path string) func(string) (*source.File, error) {
	if path == "" {
		return nil
	}
	folders := w.folders(path)
	read := lang.IncludeFrom(0, folders...)
	var mu sync.Mutex
	found := map[string]*source.File{}
	return func(name string) (*source.File, error) {
		mu.Lock()
		defer mu.Unlock()
		if f := found[name]; f != nil {
			return f, nil
		}
		f := w.opened(folders, name)
		if f == nil {
			var err error
			if f, err = read(name); err != nil {
				return nil, err
			}
			for _, other := range found { // the same file by another name
				if other.Name == f.Name {
					f = other
				}
			}
		}
		found[name] = f
		return f, nil
	}
}

// opened returns the open document for an include, nil if it is not open. Like files, it must be in
// one of the folders.
func (w *workspace) opened(folders []string, name string) *source.File {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, folder := range folders {
		full := filepath.Join(folder, filepath.FromSlash(name))
		if rel, err := filepath.Rel(folder, full); err != nil || !filepath.IsLocal(rel) {
			continue
		}
		for _, d := range w.documents {
			if d.path == full {
				return d.file
			}
		}
		if _, err := os.Stat(full); err == nil {
			return nil // a file in an earlier folder takes precedence
		}
	}
	return nil
}

// maxNeighbours is the maximum number of files that are searched for one that includes a document.
const maxNeighbours = 200

// findHost returns the program that a document is a part of: an open one, or else a file in the
// same folder; the document itself if no program includes it.
func (w *workspace) findHost(d *document) *program {
	own := w.own(d)
	if own == nil || d.path == "" {
		return own
	}
	if !functionsOnly(d.path) && (own.Tree.Block(0) != nil || len(own.Tree.Blocks) > 0 && len(own.Tree.Lost) == 0) {
		return own // it has its own blocks
	}
	for _, other := range w.open() {
		if other != d && strings.Contains(other.file.Text, "#include") {
			if p := w.own(other); p != nil && slices.Contains(p.Files(), d.file) {
				return p
			}
		}
	}
	folder := filepath.Dir(d.path)
	base := filepath.Base(d.path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return own
	}
	for _, e := range entries[:min(len(entries), maxNeighbours)] {
		name := filepath.Join(folder, e.Name())
		if ext := filepath.Ext(name); ext != ".stan" && ext != ".model" || name == d.path || e.Type()&fs.ModeType != 0 {
			continue
		}
		text, err := source.ReadFile(name, 0)
		if err != nil || !strings.Contains(text, "#include") || !strings.Contains(text, base) {
			continue
		}
		if p := w.program(source.NewFile(name, text), name); slices.Contains(p.Files(), d.file) {
			return p
		}
	}
	return own
}

// docPosition is a position in a document, with the program that it is part of.
type docPosition struct {
	*program
	file   *source.File
	offset int
}

// at finds the position p in a document.
func (w *workspace) at(ctx context.Context, uri string, p Position) (docPosition, error) {
	d, err := w.get(ctx, uri)
	if err != nil {
		return docPosition{}, err
	}
	host := w.host(d)
	if host == nil {
		return docPosition{}, errOvertaken
	}
	return docPosition{host, d.file, offsetOf(d.file, p)}, nil
}

// near finds the position p in a document for completion. If the analysis of the document's version
// is not ready, it takes that of an earlier version where that declares the same.
func (w *workspace) near(ctx context.Context, uri string, p Position) (docPosition, error) {
	d, err := w.get(ctx, uri)
	if err != nil {
		return docPosition{}, err
	}
	w.mu.Lock()
	last := w.analysed[uri]
	w.mu.Unlock()
	if last != nil && last.uri == uri && last.File != d.file {
		if later, ok := last.Later(d.file); ok {
			return docPosition{&program{Snapshot: later, uri: last.uri, path: last.path}, d.file, offsetOf(d.file, p)}, nil
		}
	}
	return w.at(ctx, uri, p)
}

// location converts a span to the protocol's form.
func (w *workspace) location(span source.Span) Location {
	return Location{w.uri(span.File), rangeOf(span)}
}

// uri returns the URI of a file; for an open document, as the client wrote it.
func (w *workspace) uri(f *source.File) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.documents {
		if d.file == f || d.path != "" && d.path == f.Name {
			return d.uri
		}
	}
	if strings.Contains(f.Name, ":") && !filepath.IsAbs(f.Name) {
		return f.Name // a text without a file, no longer open
	}
	return uriOf(f.Name)
}

func (s *server) didOpen(ctx context.Context, p *DidOpenParams) (any, error) {
	t := p.TextDocument
	d := s.workspace.put(ctx, t.URI, t.Version, t.Text, true)
	s.changed(d)
	return nil, nil
}

func (s *server) didChange(ctx context.Context, p *DidChangeParams) (any, error) {
	d, err := s.workspace.get(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	f := d.file
	for _, c := range p.ContentChanges {
		text := c.Text
		if c.Range != nil {
			span := spanOf(f, *c.Range)
			text = f.Text[:span.Start] + c.Text + f.Text[span.End:]
		}
		f = source.NewFile(f.Name, text)
	}
	d = s.workspace.put(ctx, d.uri, p.TextDocument.Version, f.Text, false)
	s.changed(d)
	return nil, nil
}

func (s *server) didSave(ctx context.Context, p *DocumentParams) (any, error) {
	w := s.workspace
	d, err := w.get(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	d.saved = true
	w.mu.Unlock()
	return nil, nil
}

func (s *server) didClose(_ context.Context, p *DocumentParams) (any, error) {
	w := s.workspace
	w.mu.Lock()
	d := w.documents[p.TextDocument.URI]
	delete(w.documents, p.TextDocument.URI)
	delete(w.analysed, p.TextDocument.URI)
	w.renew(d)
	w.mu.Unlock()
	if d != nil {
		s.withdraw(d)
	}
	return nil, nil
}

// filesChanged handles files that have changed on disk.
func (s *server) filesChanged() {
	w := s.workspace
	w.mu.Lock()
	w.renew(nil)
	w.mu.Unlock()
	for _, d := range w.open() {
		s.publishSoon(d)
	}
	if s.client.Capabilities.Workspace.InlayHint.RefreshSupport {
		s.ask("workspace/inlayHint/refresh", nil)
	}
}

// changed publishes the diagnostics of a document that has changed, and of documents that may
// include it.
func (s *server) changed(d *document) {
	s.publishSoon(d)
	for _, other := range s.workspace.open() {
		if other != d && other.uses(d.path) {
			s.publishSoon(other)
		}
	}
}
