//go:build unix

package handlersocket

import (
	"io"
	"net"
	"runtime"
	"syscall"
	"time"
)

type rawReader = syscall.RawConn

// stayingAwake gives a socket that can look for bytes without sleeping, if it is one of the system.
func stayingAwake(socket net.Conn) net.Conn {
	system, ok := socket.(syscall.Conn)
	if !ok || runtime.GOMAXPROCS(0) == 1 {
		return socket
	}
	reader, err := system.SyscallConn()
	if err != nil {
		return socket
	}
	w := &wakeful{Conn: socket, reader: reader}
	w.try = w.readAwake
	return w
}

// look reads without sleeping. It finds nothing if its time is over, nobody wants it any more, or the socket
// has ended in a way that Read tells.
func (w *wakeful) look(b []byte) (int, error) {
	w.to, w.found, w.end = b, false, time.Now().Add(awakeFor)
	err := w.reader.Read(w.try)
	w.to = nil
	switch {
	case err != nil || !w.found:
		w.found = false
		return 0, nil
	case w.n == 0:
		return 0, io.EOF
	}
	return w.n, nil
}

func (w *wakeful) readAwake(fd uintptr) bool {
	for w.looks.Load() {
		n, err := syscall.Read(int(fd), w.to)
		if err == nil {
			w.n, w.found = n, true
			return true
		}
		if err != syscall.EAGAIN && err != syscall.EINTR || time.Now().After(w.end) {
			return true
		}
		runtime.Gosched()
	}
	return true
}
