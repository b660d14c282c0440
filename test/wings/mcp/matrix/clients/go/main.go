// As client.mjs, with the SDK of Go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var session *mcp.ClientSession

func step(name string, work func() (any, error)) {
	began := time.Now()
	value, err := work()
	said := map[string]any{"step": name, "ms": time.Since(began).Milliseconds(), "ok": err == nil, "out": fmt.Sprint(value)}
	if err != nil {
		said["out"] = fmt.Sprintf("%.300s", err.Error())
	}
	line, _ := json.Marshal(said)
	fmt.Println(string(line))
}

func call(ctx context.Context, name string, args any) (string, error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	text := ""
	if len(result.Content) > 0 {
		if content, ok := result.Content[0].(*mcp.TextContent); ok {
			text = content.Text
		}
	}
	if len(text) > 300 {
		return fmt.Sprint(len(text)), nil
	}
	if result.IsError {
		return "error: " + text, nil
	}
	return text, nil
}

// atOnce counts how often work succeeds.
func atOnce(count int, work func(int) bool) int64 {
	var group sync.WaitGroup
	var good atomic.Int64
	for i := range count {
		group.Go(func() {
			if work(i) {
				good.Add(1)
			}
		})
	}
	group.Wait()
	return good.Load()
}

func do(kind string, rest []any) (any, error) {
	seconds, _ := time.ParseDuration(os.Getenv("LIMIT") + "s")
	ctx, stop := context.WithTimeout(context.Background(), seconds)
	defer stop()
	switch kind {
	case "list":
		result, err := session.ListTools(ctx, nil)
		if err != nil {
			return nil, err
		}
		return len(result.Tools), nil
	case "call":
		args := any(map[string]any{})
		if len(rest) > 1 {
			args = rest[1]
		}
		return call(ctx, rest[0].(string), args)
	case "cancel":
		var cancelled int64
		for left := int(rest[0].(float64)); left > 0; left -= 50 {
			cancelled += atOnce(min(50, left), func(int) bool {
				limited, stop := context.WithTimeout(ctx, 200*time.Millisecond)
				defer stop()
				_, err := call(limited, "slow", map[string]any{"seconds": 20})
				return err != nil
			})
		}
		return cancelled, nil
	case "many":
		return atOnce(int(rest[0].(float64)), func(i int) bool {
			text := fmt.Sprintf("n%d", i)
			answer, err := call(ctx, "echo", map[string]any{"text": text})
			return err == nil && answer == text
		}), nil
	}
	time.Sleep(time.Duration(rest[0].(float64) * float64(time.Second)))
	return "", nil
}

func transport() mcp.Transport {
	if address := os.Getenv("URL"); address != "" {
		return &mcp.StreamableClientTransport{Endpoint: address}
	}
	var command []string
	_ = json.Unmarshal([]byte(os.Getenv("COMMAND")), &command)
	program := exec.Command(command[0], command[1:]...)
	program.Stderr = os.Stderr
	return &mcp.CommandTransport{Command: program}
}

func main() {
	var steps [][]any
	if err := json.Unmarshal([]byte(os.Getenv("STEPS")), &steps); err != nil {
		panic(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "matrix", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "yes"}}, nil
		},
	})
	step("connect", func() (any, error) {
		opened, err := client.Connect(context.Background(), transport(), nil)
		session = opened
		return "", err
	})
	if session == nil {
		os.Exit(1)
	}
	for _, one := range steps {
		step(one[0].(string), func() (any, error) { return do(one[1].(string), one[2:]) })
	}
	step("close", func() (any, error) { return "", session.Close() })
}
