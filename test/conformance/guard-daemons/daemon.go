package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	var calls atomic.Int64
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user := strings.Join(r.Header.Values("x-ori-verified-user"), ",")
		fmt.Fprintf(w, "%d %s %s %s %s", calls.Add(1), r.Method, r.RequestURI, user, body)
	})))
}
