package handlersocket

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// How a connection begins: the socket, TLS, the log-in.

var errPlainPassword = errors.New("a password is not sent over plain TCP, except to this machine: set TLS")

// A permanentError is one that a second attempt would meet again.
type permanentError struct{ cause *Error }

func (e permanentError) Error() string { return e.cause.Error() }
func (e permanentError) Unwrap() error { return e.cause }

// dial makes a socket that is ready for requests: it has shaken hands and logged in.
func (c *Client) dial(ctx context.Context, address Address, write bool) (net.Conn, error) {
	if c.config.ConnectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.config.ConnectTimeout)
		defer cancel()
	}
	network, endpoint, ok := address.endpoint(write)
	if !ok {
		return nil, permanentError{usage("the address %s has no port for writing", address)}
	}
	socket, err := c.config.Dialer(ctx, network, endpoint)
	if err != nil {
		return nil, err
	}
	if !c.config.NoStayAwake {
		socket = stayingAwake(socket)
	}
	// Whatever blocks below ends with the context.
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	ready, err := c.prepare(ctx, socket, address, endpoint)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = socket.Close()
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = fmt.Errorf("%s did not answer in time", endpoint)
		}
		return nil, err
	}
	return ready, nil
}

func (c *Client) prepare(ctx context.Context, socket net.Conn, address Address, endpoint string) (net.Conn, error) {
	plain := true
	if c.config.TLS != nil {
		config := c.config.TLS
		if config.ServerName == "" {
			config = config.Clone()
			config.ServerName = address.Host
		}
		secured := tls.Client(socket, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			e := &Error{Kind: ErrConnect, words: "TLS with " + endpoint + " failed", Err: err}
			var record tls.RecordHeaderError
			if errors.As(err, &record) {
				e.words += ": that port does not speak TLS"
			}
			if isRefusal(err) {
				return nil, permanentError{e}
			}
			return nil, e
		}
		socket, plain = secured, false
	}
	request, err := c.logIn(ctx, plain && !isLocal(socket.RemoteAddr()))
	if err != nil || request == nil {
		return socket, err
	}
	if _, err := socket.Write(request); err != nil {
		return nil, err
	}
	line, more, err := readLine(socket)
	h, ok := parseHeader(line)
	switch {
	case errors.Is(err, errNoReply) || err == nil && !ok || looksLikeSQL(line) || looksLikeTLS(line):
		// Another protocol answers. A second attempt would find it again.
		return nil, permanentError{&Error{Kind: ErrProtocol, Err: wrongBytes(line, endpoint)}}
	case err != nil:
		return nil, err
	case more:
		return nil, errUnasked
	}
	if h.code != 0 {
		refused := readError(h.code, h.values(line), false)
		refused.Kind, refused.Sent = ErrLogIn, false
		return nil, permanentError{refused}
	}
	return socket, nil
}

// isRefusal says whether a handshake would fail again: one side refused it, and it was not cut.
func isRefusal(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.As(err, &alert)
}

// logIn gives the line that logs in, or nothing.
func (c *Client) logIn(ctx context.Context, exposed bool) ([]byte, error) {
	switch {
	case c.config.Secret != "":
		return append(appendText([]byte("A\t1\t"), c.config.Secret), lf), nil
	case c.config.User != "":
		password := c.config.Password
		if c.config.PasswordFunc != nil {
			var err error
			if password, err = c.config.PasswordFunc(ctx); err != nil {
				return nil, err
			}
		}
		if exposed && password != "" {
			return nil, permanentError{&Error{Kind: ErrConnect, Err: errPlainPassword}}
		}
		line := append(appendText([]byte("A\t2\t"), c.config.User), tab)
		return append(appendText(line, password), lf), nil
	}
	return nil, nil
}

// isLocal says whether nobody else can read what goes to this address.
func isLocal(address net.Addr) bool {
	switch a := address.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}

// readLine reads the one line that a log-in is answered with, and says whether there was more. With an error it gives
// what has come.
func readLine(from io.Reader) (line []byte, more bool, err error) {
	const most = 4096
	line = make([]byte, 0, 128)
	for len(line) < most {
		n, err := from.Read(line[len(line):cap(line)])
		line = line[:len(line)+n]
		if end := bytes.IndexByte(line, lf); end >= 0 {
			return line[:end], end+1 < len(line), nil
		}
		if err == io.EOF {
			return line, false, errEnded
		}
		if err != nil {
			return line, false, err
		}
		if len(line) == cap(line) {
			line = append(line, 0)[:len(line)]
		}
	}
	return line, false, errNoReply
}

// closeSocket closes at once. TLS would first write its farewell, and could wait for its peer.
func closeSocket(socket net.Conn) {
	if secured, ok := socket.(*tls.Conn); ok {
		socket = secured.NetConn()
	}
	_ = socket.Close()
}
