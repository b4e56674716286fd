package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	logName    = "server.log"
	shownOfLog = 2000 // bytes
)

// What a server need not write that speaks plain HTTP to everybody. One that does not writes its own
// over it before it listens.
const plainKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: suite, cluster: {server: "http://%s"}}]
users: [{name: suite, user: {}}]
contexts: [{name: suite, context: {cluster: suite, user: suite}}]
current-context: suite
`

// process is the running command. The nil process has ended.
type process struct {
	dir        string
	address    string
	kubeconfig string
	cmd        *exec.Cmd
	done       chan struct{} // closed when it has ended
}

// run starts the command, with its places filled in.
func run(command, dir string, wishes Wishes) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, logName))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{
		dir:        dir,
		address:    net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		kubeconfig: filepath.Join(dir, "kubeconfig"),
		done:       make(chan struct{}),
	}
	if err := os.WriteFile(p.kubeconfig, fmt.Appendf(nil, plainKubeconfig, p.address), 0o600); err != nil {
		return nil, err
	}
	places := strings.NewReplacer("{port}", strconv.Itoa(port), "{dir}", dir, "{kubeconfig}", p.kubeconfig)
	// The shell gives its place to the server, so that it is the server that gets the signals.
	p.cmd = exec.Command("sh", "-c", "exec "+places.Replace(command))
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append(os.Environ(), "SUITE_SERVER_FLAGS="+strings.Join(wishes.Flags, "\n"), "SUITE_SERVER_ADMISSION="+wishes.Admission)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // with a test that dies
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// listens waits until the server accepts connections.
func (p *process) listens(ctx context.Context) error {
	for {
		if conn, err := net.Dial("tcp", p.address); err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", p.address, context.Cause(ctx))
		case <-p.done:
			return errors.New("the server ended before it listened on " + p.address)
		case <-time.After(pause):
		}
	}
}

// kill ends it at once: nobody needs what it holds.
func (p *process) kill() {
	if p != nil {
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// log is the end of what it printed.
func (p *process) log() string {
	if p == nil {
		return ""
	}
	text, _ := os.ReadFile(filepath.Join(p.dir, logName))
	return string(text[max(0, len(text)-shownOfLog):])
}

// freePort finds a port that nobody uses, below those that the kernel gives to outgoing connections: one of these would
// take a port that was free a moment ago.
func freePort() (int, error) {
	const first, end, tries = 10_000, 32_768, 1000
	var err error
	for range tries {
		port := first + rand.IntN(end-first)
		var listener net.Listener
		if listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, listener.Close()
		}
	}
	return 0, err
}
