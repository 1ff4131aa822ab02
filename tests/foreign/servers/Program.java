import java.nio.file.Path;

/// A program that runs in a JVM of its own, and the work that another JVM does with it.
interface Program {
    /// Starts at a free port of 127.0.0.1.
    ///
    /// @param folder for its files
    /// @param file whose bytes it also serves; in the folder
    /// @return the port
    int start(Path folder, Path file) throws Exception;

    /// Stops. No thread of it keeps the JVM alive after that.
    void stop() throws Exception;

    /// Exchanges bytes with the program in the other JVM, and checks them.
    ///
    /// @param file whose bytes that program serves
    /// @param mebibytes the size of large bodies
    /// @return the things that were successful, for the log
    String work(int port, Path file, int mebibytes) throws Exception;
}
