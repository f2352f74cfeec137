package handoff

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// dirVariable makes the test binary a server whose files are in that
// directory: "pid"; "fail", which makes a successor fail; "hold", which keeps
// a replaced process from ending.
const dirVariable = "HANDOFF_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(dirVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := serve(dir); err != nil {
		fmt.Println("server:", err)
		os.Exit(1)
	}
}

// serve answers each connection with its process id and says on stdout what
// happens to it.
func serve(dir string) error {
	h, err := New(Options{PIDFile: filepath.Join(dir, "pid"), Timeout: 20 * time.Second, Log: slog.New(slog.NewTextHandler(os.Stdout, nil))})
	if err != nil {
		return err
	}
	if h.Inherited() && exists(dir, "fail") {
		return fmt.Errorf("told to fail")
	}
	fds, err := listen(h)
	if err != nil {
		return err
	}
	h.ShareListeners("http", fds)
	for i, fd := range fds {
		go answer(fd, i)
	}
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGTERM)
	if err := h.Ready(); err != nil {
		return err
	}
	fmt.Printf("ready %d inherited=%v listeners=%d %s %s\n", os.Getpid(), h.Inherited(), len(fds), addresses(fds), inheritance())
	var restarts sync.WaitGroup
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				h.RemovePIDFile()
				return nil
			}
			restarts.Go(func() { fmt.Println("restarted:", h.Restart()) })
		case <-h.Replaced():
			restarts.Wait()
			for exists(dir, "hold") {
				time.Sleep(5 * time.Millisecond)
			}
			h.RemovePIDFile()
			return nil
		}
	}
}

// listen inherits listeners, or opens three on ports of their own.
func listen(h *Handoff) ([]int, error) {
	fds, err := h.Listeners("http")
	if err != nil || len(fds) > 0 {
		return fds, err
	}
	for range 3 {
		fd, err := sys.Listen("127.0.0.1:0", 0, false)
		if err != nil {
			return nil, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

func answer(fd, i int) {
	copied, _ := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	l, err := net.FileListener(os.NewFile(uintptr(copied), "listener"))
	if err != nil {
		fmt.Println("server:", err)
		return
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		fmt.Fprintf(c, "%d %d", os.Getpid(), i)
		c.Close()
	}
}

func addresses(fds []int) string {
	var all []string
	for _, fd := range fds {
		all = append(all, sys.LocalAddr(fd).String())
	}
	return strings.Join(all, ",")
}

// inheritance says what a child of this process gets of the library: its open
// descriptors, with the one that ls reads the directory by, and the variable.
func inheritance() string {
	out, err := exec.Command("/bin/ls", "/proc/self/fd").Output()
	if err != nil {
		return err.Error()
	}
	return "child=" + strings.Join(strings.Fields(string(out)), ",") + os.Getenv(parentVariable)
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
