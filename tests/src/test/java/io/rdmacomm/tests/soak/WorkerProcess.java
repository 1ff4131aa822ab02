package io.rdmacomm.tests.soak;

import io.rdmacomm.tests.fixture.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A worker, seen from the conductor. Thread-safe.
final class WorkerProcess {
    private static final long TIMEOUT_SECONDS = 120;

    /// The process has ended.
    static final class GoneException extends Exception {
        private static final long serialVersionUID = 1;

        GoneException(String message) {
            super(message);
        }
    }

    /// Gets what the worker reports of its own accord, and once that it has ended.
    interface Listener {
        void said(WorkerProcess worker, Words words);

        void gone(WorkerProcess worker);
    }

    private final String name;
    private final Process process;
    private final Listener listener;
    private final AtomicLong ids = new AtomicLong();
    private final Map<String, CompletableFuture<Words>> calls = new ConcurrentHashMap<>();
    private final CompletableFuture<Words> ready = new CompletableFuture<>();
    private volatile boolean gone;
    private volatile long killed;
    private final AtomicLong ended = new AtomicLong();

    private WorkerProcess(String name, Process process, Listener listener) {
        this.name = name;
        this.process = process;
        this.listener = listener;
        var _ = process.onExit().thenRun(() -> ended.compareAndSet(0, System.nanoTime()));
        Thread.ofPlatform().daemon().name("worker " + name).start(this::listen);
    }

    /// Starts one and waits until it takes commands.
    ///
    /// @param launcher the words before the command
    /// @param errors the file that its standard error is appended to
    static WorkerProcess start(
            String name,
            List<String> launcher,
            Map<String, String> properties,
            List<String> devices,
            Path errors,
            Listener listener)
            throws InterruptedException {
        List<String> command = new ArrayList<>(launcher);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:CICompilerCount=2"));
        if (System.getenv("LAB") != null) {
            // The processor is emulated (docs/75-lab.md).
            command.removeLast();
            command.add("-XX:TieredStopAtLevel=1");
        }
        properties.forEach((key, value) -> command.add("-D" + key + "=" + value));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), WorkerMain.class.getName()));
        command.addAll(devices);
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
                    .start();
            WorkerProcess worker = new WorkerProcess(name, process, listener);
            worker.ready.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            return worker;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("worker " + name + " does not start; see " + errors, e);
        }
    }

    String name() {
        return name;
    }

    long pid() {
        return process.pid();
    }

    boolean isGone() {
        return gone;
    }

    /// When it was killed, as System.nanoTime; 0 if it was not.
    long killed() {
        return killed;
    }

    /// When it had ended, which takes a large process on a busy machine a while; waits for that.
    long ended() throws InterruptedException {
        try {
            return process.onExit()
                    .thenApply(dead -> ended.updateAndGet(before -> before == 0 ? System.nanoTime() : before))
                    .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("worker " + name + " was killed and does not end", e);
        }
    }

    private void listen() {
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                hear(Words.parse(line));
            }
        } catch (IOException e) {
            // It has been killed.
        }
        gone = true;
        GoneException why = new GoneException("worker " + name + " has ended");
        ready.completeExceptionally(why);
        calls.values().forEach(call -> call.completeExceptionally(why));
        listener.gone(this);
    }

    private void hear(Words words) {
        if (words.has("ready")) {
            ready.complete(words);
        } else if (words.has("answer")) {
            CompletableFuture<Words> call = calls.remove(words.text("answer"));
            if (call != null) {
                call.complete(words);
            }
        } else {
            listener.said(this, words);
        }
    }

    /// Has it execute a command.
    ///
    /// @throws GoneException if it has ended
    /// @throws IllegalStateException if it could not do it, or gives no answer
    Words call(Words command) throws GoneException, InterruptedException {
        String id = Long.toString(ids.incrementAndGet());
        CompletableFuture<Words> answer = new CompletableFuture<>();
        calls.put(id, answer);
        try {
            send(command.with("id", id));
            Words words = answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (words.has("failure")) {
                throw new IllegalStateException(
                        words.text("failure") + " in worker " + name + ": " + words.text("text"));
            }
            return words;
        } catch (ExecutionException e) {
            throw new GoneException("worker " + name + " has ended");
        } catch (TimeoutException e) {
            throw new IllegalStateException("worker " + name + " does not answer to: " + command, e);
        } finally {
            calls.remove(id);
        }
    }

    private synchronized void send(Words command) throws GoneException {
        if (gone) {
            throw new GoneException("worker " + name + " has ended");
        }
        try {
            process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new GoneException("worker " + name + " has ended");
        }
    }

    void freeze() {
        Signals.freeze(process);
    }

    void thaw() {
        Signals.thaw(process);
    }

    /// Kills it with SIGKILL and waits until it is gone.
    void kill() throws InterruptedException {
        killed = System.nanoTime();
        process.destroyForcibly();
        process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /// Ends it in order.
    ///
    /// @return what went wrong; null if nothing did
    @Nullable
    String end() throws InterruptedException {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            return "worker " + name + " has ended before its time";
        }
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            return "worker " + name + " does not end";
        }
        return process.exitValue() == 0 ? null : "worker " + name + " ended with " + process.exitValue();
    }

    @Override
    public String toString() {
        return name + " (" + pid() + ")";
    }
}
