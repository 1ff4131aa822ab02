import java.nio.file.Path;

/// A program under load, in a JVM of its own, and the traffic of its client in another JVM.
interface Loaded {
    /// Starts the program at a free port of 127.0.0.1.
    ///
    /// @param folder for its files
    /// @return the port
    int start(Path folder) throws Exception;

    /// Stops the program.
    void stop() throws Exception;

    /// Begins the traffic, which continues until the JVM ends. Each answer is checked.
    ///
    /// @param port where the program listens
    void begin(int port, Meter meter) throws Exception;
}
