package io.rdmacomm.cli.command;

import io.rdmacomm.comm.SessionOptions;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The options of a session: its device, its path, and its modes.
public final class SessionFlags {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Spec
    private CommandSpec ownSpec = CommandSpec.create();

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    @Mixin
    private final ModeOptions modes = new ModeOptions();

    /// The device, and how queue pairs connect.
    public DeviceOptions device() {
        return device;
    }

    /// The work mode and the thread mode.
    public ModeOptions modes() {
        return modes;
    }

    /// Adds what was given to `options`.
    ///
    /// @throws ParameterException if the file with the secret cannot be used
    public SessionOptions apply(SessionOptions options) {
        return modes.apply(device.apply(options));
    }

    /// The given options, for another process of this command.
    public List<String> arguments() {
        return GivenOptions.of(spec, ownSpec);
    }

    /// Rejects the options that have no effect without a session.
    ///
    /// @param with what uses no session
    /// @throws ParameterException if one was given
    public void exclude(String with) {
        device.excludeConnectionPort(with);
        device.excludeTrust(with);
        modes.exclude(with);
    }
}
