// Verifies what the signing log publishes with Go's own implementation of transparency logs, and nothing of ours:
// golang.org/x/mod/sumdb/tlog and note. Reads one JSON question per line and answers each with "ok" or the reason for refusal.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type question struct {
	Kind string // tree, inclusion, consistency or proof
	Vkey string
	Note string // a checkpoint; for kind proof, a complete .tlog-proof file

	Dir    string // the tiles, for kind tree
	Index  int64
	Leaf   []byte // the leaf hash; for kind proof, the entry
	Path   [][]byte
	Old    int64 // the smaller tree, for kind consistency
	OldSum []byte
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var q question
		err := json.Unmarshal(in.Bytes(), &q)
		if err == nil {
			err = answer(q)
		}
		if err != nil {
			fmt.Printf("refused: %q\n", err.Error())
		} else {
			fmt.Println("ok")
		}
	}
}

func answer(q question) error {
	if q.Kind == "proof" {
		return checkProofFile(q)
	}
	tree, err := openCheckpoint(q.Vkey, q.Note)
	if err != nil {
		return err
	}
	switch q.Kind {
	case "tree":
		return checkTiles(q.Dir, tree)
	case "inclusion":
		path, leaf, err := hashes(q.Path, q.Leaf)
		if err != nil {
			return err
		}
		return tlog.CheckRecord(tlog.RecordProof(path), tree.N, tree.Hash, q.Index, leaf)
	case "consistency":
		path, old, err := hashes(q.Path, q.OldSum)
		if err != nil {
			return err
		}
		return tlog.CheckTree(tlog.TreeProof(path), tree.N, tree.Hash, q.Old, old)
	}
	return errors.New("unknown kind")
}

func openCheckpoint(vkey, text string) (tlog.Tree, error) {
	var tree tlog.Tree
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return tree, err
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tree, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return tree, errors.New("not a checkpoint of this log")
	}
	if tree.N, err = strconv.ParseInt(lines[1], 10, 64); err != nil {
		return tree, err
	}
	tree.Hash, err = tlog.ParseHash(lines[2])
	return tree, err
}

// Reads the tree out of its tiles, each verified against the checkpoint, and every leaf hash against its entry.
func checkTiles(dir string, tree tlog.Tree) error {
	reader := tlog.TileHashReader(tree, &tiles{dir})
	root, err := tlog.TreeHash(tree.N, reader)
	if err != nil {
		return err
	}
	if root != tree.Hash {
		return errors.New("another root")
	}
	first := (tree.N - 1) / 256 * 256
	entries, err := readBundle(dir, first/256, int(tree.N-first))
	if err != nil {
		return err
	}
	var indexes []int64
	for at := range entries {
		indexes = append(indexes, tlog.StoredHashIndex(0, first+int64(at)))
	}
	stored, err := reader.ReadHashes(indexes)
	if err != nil {
		return err
	}
	for at, entry := range entries {
		if stored[at] != tlog.RecordHash(entry) {
			return fmt.Errorf("entry %d is not its leaf", first+int64(at))
		}
	}
	return nil
}

// A .tlog-proof file, verified with only this program and the log's key.
func checkProofFile(q question) error {
	head, checkpoint, found := strings.Cut(q.Note, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" || !strings.HasPrefix(lines[1], "extra ") {
		return errors.New("not a proof file")
	}
	extra, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	if err != nil || !bytes.Equal(extra, q.Leaf) {
		return errors.New("another entry")
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	if err != nil {
		return err
	}
	var path tlog.RecordProof
	for _, line := range lines[3:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return err
		}
		path = append(path, hash)
	}
	tree, err := openCheckpoint(q.Vkey, checkpoint)
	if err != nil {
		return err
	}
	return tlog.CheckRecord(path, tree.N, tree.Hash, index, tlog.RecordHash(extra))
}

type tiles struct{ dir string }

func (*tiles) Height() int                           { return 8 }
func (*tiles) SaveTiles([]tlog.Tile, [][]byte)       {}
func (t *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range wanted {
		data, err := os.ReadFile(filepath.Join(t.dir, pathOf(tile)))
		if err != nil && tile.W < 256 {
			full := tile
			full.W = 256
			data, err = os.ReadFile(filepath.Join(t.dir, pathOf(full)))
			if err == nil {
				data = data[:tile.W*tlog.HashSize]
			}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// Go's own paths, without the height, which tlog-tiles fixes.
func pathOf(tile tlog.Tile) string {
	return "tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
}

func readBundle(dir string, index int64, width int) ([][]byte, error) {
	tile := tlog.Tile{H: 8, L: 0, N: index, W: width}
	path := strings.Replace(pathOf(tile), "tile/0/", "tile/entries/", 1)
	data, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	for len(data) >= 2 {
		length := int(data[0])<<8 | int(data[1])
		if len(data) < 2+length {
			return nil, errors.New("a bundle ends within an entry")
		}
		entries = append(entries, data[2:2+length])
		data = data[2+length:]
	}
	if len(entries) != width || len(data) > 0 {
		return nil, errors.New("a bundle of another width")
	}
	return entries, nil
}

func hashes(path [][]byte, last []byte) ([]tlog.Hash, tlog.Hash, error) {
	var all []tlog.Hash
	var sum tlog.Hash
	for _, bytes := range append(path, last) {
		if len(bytes) != tlog.HashSize {
			return nil, sum, errors.New("not a hash")
		}
		copy(sum[:], bytes)
		all = append(all, sum)
	}
	return all[:len(all)-1], sum, nil
}
