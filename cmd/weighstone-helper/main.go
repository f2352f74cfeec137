// Command weighstone-helper starts CGI programs for a server, which passes it
// their descriptors. It is a program of its own so that it stays small: it
// links nothing of the server.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/weighstone/weighstone/cgi/helper"
)

func main() {
	// Its one thread waits in system calls with its share of GOMAXPROCS; while
	// there is another that is free, nobody takes it away meanwhile.
	runtime.GOMAXPROCS(2)
	if err := helper.Serve(0); err != nil {
		fmt.Fprintf(os.Stderr, "weighstone-helper: %v\n", err)
		os.Exit(1)
	}
}
