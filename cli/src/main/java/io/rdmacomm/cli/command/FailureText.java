package io.rdmacomm.cli.command;

import io.rdmacomm.verbs.Printable;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.stream.Collectors;

/// Describes failures to people, in one line.
public final class FailureText {
    private FailureText() {}

    /// Describes `failure` and, if known, what to do about it.
    public static String of(Throwable failure) {
        String text = switch (failure) {
            case CommandFailure known -> message(known);
            case UsageFailure known -> message(known);
            case LostOutput known -> message(known);
            case RdmaException known -> message(known);
            case UnknownHostException unknown -> "unknown host " + message(unknown) + ": check the name";
            case UnresolvedAddressException _ -> "unknown host: check the name";
            case NoRouteToHostException route -> message(route) + ": check the address and the firewall";
            case ConnectException refused -> message(refused) + ": is the server running?";
            case SocketTimeoutException late -> message(late) + ": the peer did not answer in time";
            case NoSuchFileException missing -> missing.getFile() + ": no such file";
            case NotDirectoryException other -> other.getFile() + ": not a directory";
            case AccessDeniedException denied -> denied.getFile() + ": permission denied";
            case FileSystemException file -> message(file);
            case UncheckedIOException io -> message(io);
            case IOException io -> message(io);
            case InterruptedException _ -> "interrupted";
            case OutOfMemoryError memory -> "out of memory (" + message(memory) + "): use smaller sizes";
            default -> failure.getClass().getSimpleName() + ": " + message(failure);
        };
        return oneLine(text);
    }

    /// The stack trace, for users who ask for details.
    public static String trace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString().lines().map(FailureText::line).collect(Collectors.joining(System.lineSeparator()));
    }

    private static String line(String text) {
        return text.startsWith("\t") ? "\t" + Printable.text(text.substring(1)) : Printable.text(text);
    }

    /// Joins the lines of `text`, which may quote a name or a variable from an untrusted source.
    public static String oneLine(String text) {
        return Printable.text(text.replaceAll("\\s*\\R\\s*", "; "));
    }

    /// Describes the failure of a file whose name the caller prints.
    public static String ofFile(IOException failure) {
        return switch (failure) {
            case NoSuchFileException _ -> "no such file";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException file when file.getReason() != null -> oneLine(file.getReason());
            default -> {
                String text = of(failure);
                yield text.contains("No space left")
                        ? "no space left on the disk: make room, or choose another folder"
                        : text;
            }
        };
    }

    private static String message(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message;
    }
}
