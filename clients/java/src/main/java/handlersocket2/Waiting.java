package handlersocket2;

import handlersocket2.internal.Call;
import handlersocket2.internal.ClientThread;
import handlersocket2.internal.Router;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;

/** How a thread waits for a call. */
final class Waiting {
    private Waiting() {}

    /** What is called back on a thread of the client would wait for itself. */
    static void refuseOwnThread() {
        if (ClientThread.isCurrent()) {
            throw new UsageException(
                    "a call that waits, on a thread of the client: use the asynchronous calls, or another executor");
        }
    }

    /** Sends a call for which this thread is going to wait. If it is interrupted already, it gives the call up. */
    static void submit(Router router, Call<?> call) {
        if (Thread.currentThread().isInterrupted()) {
            call.giveUpUnsent();
        } else {
            router.submit(call);
        }
    }

    /** The same for calls that stay neighbours on one connection. */
    static void submit(Router router, List<? extends Call<?>> calls) {
        if (Thread.currentThread().isInterrupted()) {
            calls.forEach(Call::giveUpUnsent);
        } else {
            router.submit(calls);
        }
    }

    /** The result, or its error with the stack of this thread. An interrupt gives the call up. */
    static <T> T await(Call<T> call) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return call.get();
                } catch (InterruptedException problem) {
                    interrupted = true;
                    call.cancel(false);
                }
            }
        } catch (CancellationException problem) {
            problem.fillInStackTrace();
            throw problem;
        } catch (ExecutionException problem) {
            Throwable cause = problem.getCause();
            cause.fillInStackTrace();
            if (cause instanceof RuntimeException error) {
                throw error;
            }
            throw new IllegalStateException(cause);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
