package zarr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/internal/files"
)

// metadataName is the file with the metadata of a group or an array.
const metadataName = "zarr.json"

// Store is a Zarr store in a folder: a group that contains groups of arrays.
type Store struct {
	dir        string
	Attributes map[string]any // of the store as a whole; written by Save
	groups     map[string]*Group

	mu    sync.Mutex
	saved map[string][]byte // the metadata last written, by file
}

// Group is a group of arrays.
type Group struct {
	Attributes map[string]any // written by Save

	name   string
	store  *Store
	arrays map[string]*Array
}

// Create makes a store in a folder that does not exist or is empty. It cannot be read before the
// first Save.
func Create(dir string) (*Store, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("cannot make a Zarr store in %s: the folder is not empty", dir)
	}
	if err := files.MakeFolders(dir); err != nil {
		return nil, fmt.Errorf("cannot make a Zarr store: %w", err)
	}
	return &Store{dir: dir, groups: map[string]*Group{}, saved: map[string][]byte{}, Attributes: map[string]any{}}, nil
}

// Dir is the folder of the store.
func (s *Store) Dir() string { return s.dir }

// Move durably renames the folder of the store within its parent folder. It replaces an existing
// store or empty folder of that name.
func (s *Store) Move(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := files.Move(s.dir, dir); err != nil {
		return fmt.Errorf("cannot write the Zarr store: %w", err)
	}
	s.dir, s.saved = dir, map[string][]byte{}
	return nil
}

// Group returns the group of a name; nil if there is none.
func (s *Store) Group(name string) *Group { return s.groups[name] }

// Groups lists the names of the groups.
func (s *Store) Groups() []string { return slices.Sorted(maps.Keys(s.groups)) }

// AddGroup makes a group. Its name must have no slashes.
func (s *Store) AddGroup(name string, attributes map[string]any) (*Group, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if s.groups[name] != nil {
		return nil, fmt.Errorf("zarr: there is a group %s in %s already", name, s.dir)
	}
	if err := files.MakeFolders(filepath.Join(s.dir, name)); err != nil {
		return nil, fmt.Errorf("cannot write to the Zarr store: %w", err)
	}
	if attributes == nil {
		attributes = map[string]any{}
	}
	g := &Group{Attributes: attributes, name: name, store: s, arrays: map[string]*Array{}}
	s.groups[name] = g
	return g, nil
}

// RemoveGroup removes a group with its arrays.
func (s *Store) RemoveGroup(name string) error {
	if s.groups[name] == nil {
		return nil
	}
	delete(s.groups, name)
	if err := s.Save(); err != nil { // first, so that readers do not look for it
		return err
	}
	s.saved = map[string][]byte{}
	return files.RemoveAll(filepath.Join(s.dir, name))
}

// Array returns the array of a name; nil if there is none.
func (g *Group) Array(name string) *Array { return g.arrays[name] }

// Arrays lists the names of the arrays.
func (g *Group) Arrays() []string { return slices.Sorted(maps.Keys(g.arrays)) }

// AddArray makes an array without writing any chunks.
func (g *Group) AddArray(name string, spec Spec) (*Array, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if g.arrays[name] != nil {
		return nil, fmt.Errorf("zarr: there is an array %s in the group %s already", name, g.name)
	}
	if spec.Chunks == nil {
		for _, n := range spec.Shape {
			spec.Chunks = append(spec.Chunks, max(n, 1))
		}
	}
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("zarr: array %s: %w", name, err)
	}
	a := &Array{Spec: spec, name: g.name + "/" + name, store: g.store}
	if err := files.MakeFolders(a.dir()); err != nil {
		return nil, fmt.Errorf("cannot write to the Zarr store: %w", err)
	}
	g.arrays[name] = a
	return a, nil
}

// checkName refuses names that cannot be file names.
func checkName(name string) error {
	if name == "" || strings.Trim(name, ".") == "" || strings.HasPrefix(name, "__") || strings.ContainsAny(name, "/\\:") {
		return fmt.Errorf("zarr: %q cannot be the name of a group or an array", name)
	}
	return nil
}

// metadata is the contents of a zarr.json.
type metadata struct {
	Format     int            `json:"zarr_format"`
	Node       string         `json:"node_type"`
	Attributes map[string]any `json:"attributes,omitempty"`

	// fields of arrays
	Shape        []int      `json:"shape"`
	Type         Type       `json:"data_type,omitempty"`
	Grid         *extension `json:"chunk_grid,omitempty"`
	Keys         *extension `json:"chunk_key_encoding,omitempty"`
	Fill         any        `json:"fill_value,omitempty"`
	Codecs       []codec    `json:"codecs,omitempty"`
	Dimensions   []string   `json:"dimension_names,omitempty"`
	Transformers []any      `json:"storage_transformers,omitempty"`

	// fields of groups
	Consolidated *consolidated `json:"consolidated_metadata,omitempty"`
}

// extension is a part of the metadata with a name and options.
type extension struct {
	Name          string        `json:"name"`
	Configuration configuration `json:"configuration"`
}

// configuration has the options of the supported extensions.
type configuration struct {
	ChunkShape []int  `json:"chunk_shape,omitempty"`
	Separator  string `json:"separator,omitempty"`
	Endian     string `json:"endian,omitempty"`
}

// codec is a step of the conversion from numbers to the bytes of a file.
type codec struct {
	Name          string         `json:"name"`
	Configuration map[string]any `json:"configuration,omitempty"`
}

// consolidated has the metadata of all groups and arrays below a group, by path.
type consolidated struct {
	Kind           string              `json:"kind"`
	MustUnderstand bool                `json:"must_understand"`
	Metadata       map[string]metadata `json:"metadata"`
}

func (a *Array) metadata() metadata {
	m := metadata{
		Format: 3, Node: "array", Attributes: a.Attributes, Shape: append([]int{}, a.Shape...), Type: a.Type, Fill: a.Type.fill(), Dimensions: a.Dimensions,
		Grid:   &extension{Name: "regular", Configuration: configuration{ChunkShape: a.Chunks}},
		Keys:   &extension{Name: "default", Configuration: configuration{Separator: "."}},
		Codecs: []codec{a.Type.serializer()},
	}
	if a.Gzip {
		m.Codecs = append(m.Codecs, codec{Name: "gzip", Configuration: map[string]any{"level": level}})
	}
	return m
}

// MarshalJSON writes only the fields of the node's kind: a group has no shape. The chunks of a
// single number have an empty list of extents.
func (m metadata) MarshalJSON() ([]byte, error) {
	if m.Node == "group" {
		attributes := m.Attributes
		if attributes == nil {
			attributes = map[string]any{}
		}
		return json.Marshal(struct {
			Format       int            `json:"zarr_format"`
			Node         string         `json:"node_type"`
			Attributes   map[string]any `json:"attributes"`
			Consolidated *consolidated  `json:"consolidated_metadata,omitempty"`
		}{m.Format, m.Node, attributes, m.Consolidated})
	}
	type plain metadata
	grid := struct {
		Name          string           `json:"name"`
		Configuration map[string][]int `json:"configuration"`
	}{m.Grid.Name, map[string][]int{"chunk_shape": append([]int{}, m.Grid.Configuration.ChunkShape...)}}
	return json.Marshal(struct {
		plain
		Grid any `json:"chunk_grid"`
		Fill any `json:"fill_value"` // always written, even if it is false
	}{plain(m), grid, m.Fill})
}

// Save writes the metadata of each array and group; a group's include those of everything below it.
// Readers see a changed shape from then on.
func (s *Store) Save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]metadata{}
	for _, name := range s.Groups() {
		g := s.groups[name]
		own := map[string]metadata{}
		for _, array := range g.Arrays() {
			a := g.arrays[array]
			m := a.metadata()
			if err := s.replaceJSON(a.dir(), m); err != nil {
				return err
			}
			own[array], all[name+"/"+array] = m, m
		}
		group := metadata{Format: 3, Node: "group", Attributes: g.Attributes}
		empty := group
		empty.Consolidated = &consolidated{Kind: "inline", Metadata: map[string]metadata{}}
		all[name] = empty
		group.Consolidated = &consolidated{Kind: "inline", Metadata: own}
		if err := s.replaceJSON(filepath.Join(s.dir, name), group); err != nil {
			return err
		}
	}
	return s.replaceJSON(s.dir, metadata{Format: 3, Node: "group", Attributes: s.Attributes, Consolidated: &consolidated{Kind: "inline", Metadata: all}})
}

// Sync makes the store durable, with the chunks and the metadata written so far.
func (s *Store) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := files.SyncAll(s.dir)
	if err == nil {
		err = files.SyncFolder(filepath.Dir(s.dir))
	}
	if err != nil {
		return fmt.Errorf("cannot write to the Zarr store: %w", err)
	}
	return nil
}

// replaceJSON writes metadata, unless they have not changed since they were last written.
func (s *Store) replaceJSON(dir string, m metadata) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("zarr: %w", err)
	}
	path := filepath.Join(dir, metadataName)
	text = append(text, '\n')
	if bytes.Equal(s.saved[path], text) {
		return nil
	}
	if err := replace(path, text); err != nil {
		return err
	}
	s.saved[path] = text
	return nil
}

// replace writes a file atomically. It becomes durable with Sync.
func replace(path string, content []byte) error {
	if err := files.Swap(path, content); err != nil {
		return fmt.Errorf("cannot write to the Zarr store: %w", err)
	}
	return nil
}

// Is reports whether a folder is a Zarr store.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, metadataName))
	return err == nil
}

// Open reads the metadata of a store with groups of arrays. You can then also write to it. Errors
// name the file.
func Open(dir string) (*Store, error) {
	m, err := readMetadata(dir, "group")
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, groups: map[string]*Group{}, saved: map[string][]byte{}, Attributes: attributesOf(m)}
	groups, err := folders(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range groups {
		path := filepath.Join(dir, name)
		if m, err = readMetadata(path, "group"); err != nil {
			return nil, err
		}
		g := &Group{Attributes: attributesOf(m), name: name, store: s, arrays: map[string]*Array{}}
		arrays, err := folders(path)
		if err != nil {
			return nil, err
		}
		for _, array := range arrays {
			path := filepath.Join(path, array)
			if m, err = readMetadata(path, "array"); err != nil {
				return nil, err
			}
			a := &Array{name: name + "/" + array, store: s}
			if a.Spec, err = m.spec(); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(path, metadataName), err)
			}
			g.arrays[array] = a
		}
		s.groups[name] = g
	}
	return s, nil
}

func attributesOf(m metadata) map[string]any {
	if m.Attributes == nil {
		return map[string]any{}
	}
	return m.Attributes
}

// folders lists the subfolders that have metadata.
func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the Zarr store: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && Is(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

const (
	maxMetadata = 1 << 28 // maximum size of a file of metadata, in bytes
	maxHeader   = 1 << 16 // bytes that a chunk may have in addition to twice its numbers
)

// readFile reads a regular file of at most limit bytes. Other files may have no end.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, and may have %d", path, info.Size(), limit)
	}
	return files.ReadFile(path)
}

func readMetadata(dir, node string) (m metadata, err error) {
	path := filepath.Join(dir, metadataName)
	text, err := readFile(path, maxMetadata)
	if err != nil {
		return m, fmt.Errorf("cannot read the Zarr store: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if m.Format != 3 || m.Node != node {
		return m, fmt.Errorf("%s: a %s of Zarr's version %d, where a %s of version 3 is expected", path, m.Node, m.Format, node)
	}
	return m, nil
}

// spec returns the description of an array from its metadata, or an error if it is not supported.
func (m *metadata) spec() (Spec, error) {
	s := Spec{Type: m.Type, Shape: m.Shape, Dimensions: m.Dimensions, Attributes: m.Attributes}
	if m.Grid == nil || m.Keys == nil || m.Grid.Name != "regular" || m.Keys.Name != "default" || m.Keys.Configuration.Separator != "." || len(m.Transformers) > 0 {
		return s, errors.New("chunks that are not regular, or whose files are named in another way than by ppl")
	}
	s.Chunks = m.Grid.Configuration.ChunkShape
	for i, c := range m.Codecs {
		switch {
		case i == 0 && c.Name == m.Type.serializer().Name && (c.Name != "bytes" || m.Type == Bool || c.Configuration["endian"] == "little"):
		case i == 1 && c.Name == "gzip":
			s.Gzip = true
		default:
			return s, fmt.Errorf("the codec %s is not supported here", c.Name)
		}
	}
	if len(m.Codecs) == 0 {
		return s, errors.New("no codecs")
	}
	return s, s.check()
}
