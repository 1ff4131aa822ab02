package io.rdmacomm.nio;

import static java.lang.constant.ConstantDescs.CD_MethodHandle;
import static java.lang.constant.ConstantDescs.CD_long;

import io.rdmacomm.nio.channel.JdkCalls;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.TypeCheckInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessFlag;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.security.ProtectionDomain;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Makes classes of the JDK that treat its own socket channels specially ask [JdkCalls] about ours.
///
/// Inserts code at the beginning of a few methods: it calls a method handle, and returns its result unless that is
/// null or negative. The handles are in a new class in their package, because code of `java.base` cannot name a
/// class of ours. A method with an unexpected shape stays unchanged.
final class JdkClasses {
    private static final SafeLogger LOGGER = SafeLogger.of(JdkClasses.class);

    private static final ClassDesc HANDLES = ClassDesc.of(JdkSockets.PACKAGE, "RdmaHandles");
    private static final ClassDesc READABLE = descriptor(ReadableByteChannel.class);
    private static final ClassDesc WRITABLE = descriptor(WritableByteChannel.class);
    private static final ClassDesc INPUT = descriptor(InputStream.class);
    private static final ClassDesc OUTPUT = descriptor(OutputStream.class);
    private static final ClassDesc CHANNEL_INPUT = ofJdk("ChannelInputStream");

    /// A method of the JDK that is changed to ask.
    ///
    /// @param owner its class
    /// @param special the class of the JDK that it treats specially; the code of the method refers to it
    /// @param handle the field with the handle
    /// @param asked the type of the handle
    /// @param arguments loads the arguments of the handle
    private record Question(
            ClassDesc owner,
            String method,
            MethodTypeDesc type,
            ClassDesc special,
            String handle,
            MethodTypeDesc asked,
            Consumer<CodeBuilder> arguments) {
        boolean isIn(MethodModel model) {
            return model.methodName().equalsString(method)
                    && model.methodTypeSymbol().equals(type)
                    && model.code().isPresent()
                    && model.code().get().elementStream().anyMatch(this::isSpecial);
        }

        private boolean isSpecial(CodeElement element) {
            return element instanceof TypeCheckInstruction check
                    && check.type().asSymbol().equals(special);
        }

        void ask(CodeBuilder code) {
            Label goOn = code.newLabel();
            code.getstatic(HANDLES, handle, CD_MethodHandle);
            arguments.accept(code);
            code.invokevirtual(CD_MethodHandle, "invokeExact", asked);
            if (asked.returnType().isPrimitive()) {
                code.dup2()
                        .lconst_0()
                        .lcmp()
                        .iflt(goOn)
                        .lreturn()
                        .labelBinding(goOn)
                        .pop2();
            } else {
                code.dup().ifnull(goOn).areturn().labelBinding(goOn).pop();
            }
        }
    }

    private static final List<Question> QUESTIONS = List.of(
            ofStreams("input", MethodTypeDesc.of(INPUT, READABLE)),
            ofStreams("output", MethodTypeDesc.of(OUTPUT, WRITABLE)),
            new Question(
                    ofJdk("FileChannelImpl"),
                    "transferToTrustedChannel",
                    MethodTypeDesc.of(CD_long, CD_long, CD_long, WRITABLE),
                    ofJdk("SelChImpl"),
                    "transfer",
                    MethodTypeDesc.of(CD_long, descriptor(FileChannel.class), CD_long, CD_long, WRITABLE),
                    code -> code.aload(0).lload(1).lload(3).aload(5)),
            new Question(
                    CHANNEL_INPUT,
                    "transferTo",
                    MethodTypeDesc.of(CD_long, OUTPUT),
                    ofJdk("SocketOutputStream"),
                    "copy",
                    MethodTypeDesc.of(CD_long, READABLE, OUTPUT),
                    code -> code.aload(0)
                            .getfield(CHANNEL_INPUT, "ch", READABLE)
                            .aload(1)));

    private JdkClasses() {}

    /// The question about the stream of a channel; the method takes and returns the same as its handle.
    private static Question ofStreams(String handle, MethodTypeDesc type) {
        return new Question(
                ofJdk("Streams"), "of", type, ofJdk("SocketChannelImpl"), handle, type, code -> code.aload(0));
    }

    private static ClassDesc ofJdk(String name) {
        return ClassDesc.of(JdkSockets.PACKAGE, name);
    }

    private static ClassDesc descriptor(Class<?> type) {
        return type.describeConstable().orElseThrow();
    }

    /// Changes the classes. Logs a warning for each method that cannot be changed.
    ///
    /// @param instrumentation of an agent that has opened the package of the JDK to this module
    static void change(Instrumentation instrumentation) {
        Set<Question> asking = new HashSet<>();
        try {
            defineHandles();
            retransform(instrumentation, asking);
        } catch (ReflectiveOperationException
                | UnmodifiableClassException
                | UnsupportedOperationException
                | LinkageError e) {
            LOGGER.log(System.Logger.Level.DEBUG, "classes of the JDK could not be changed", e);
            asking.clear();
        }
        QUESTIONS.stream()
                .filter(question -> !asking.contains(question))
                .forEach(
                        question -> LOGGER.log(
                                System.Logger.Level.WARNING,
                                () -> question.owner().displayName() + "." + question.method()
                                        + " of this JDK does not know RDMA channels: "
                                        + (question.asked().returnType().isPrimitive()
                                                ? "files are sent in parts of 8 KiB"
                                                : "a stream of java.nio.channels.Channels cannot be read while it is written")));
    }

    private static void defineHandles() throws ReflectiveOperationException {
        byte[] bytes = ClassFile.of().build(HANDLES, builder -> {
            builder.withFlags(AccessFlag.FINAL, AccessFlag.SUPER);
            QUESTIONS.forEach(question -> builder.withField(question.handle(), CD_MethodHandle, ClassFile.ACC_STATIC));
        });
        MethodHandles.Lookup own = MethodHandles.lookup();
        Class<?> handles =
                MethodHandles.privateLookupIn(load(ofJdk("Streams")), own).defineClass(bytes);
        MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(handles, own);
        set(lookup, "input", handle(own, "input", InputStream.class, ReadableByteChannel.class));
        set(lookup, "output", handle(own, "output", OutputStream.class, WritableByteChannel.class));
        set(
                lookup,
                "transfer",
                handle(
                        own,
                        "transfer",
                        long.class,
                        FileChannel.class,
                        long.class,
                        long.class,
                        WritableByteChannel.class));
        set(lookup, "copy", handle(own, "transfer", long.class, ReadableByteChannel.class, OutputStream.class));
        // The JVM reads the classes of a module in a folder from such a stream, where the call must not load a
        // class: this loads all that it needs.
        var _ = JdkCalls.input(Channels.newChannel(InputStream.nullInputStream()));
    }

    private static void set(MethodHandles.Lookup lookup, String field, MethodHandle handle)
            throws ReflectiveOperationException {
        lookup.findStaticVarHandle(lookup.lookupClass(), field, MethodHandle.class)
                .set(handle);
    }

    private static MethodHandle handle(MethodHandles.Lookup own, String name, Class<?> result, Class<?>... arguments)
            throws ReflectiveOperationException {
        return own.findStatic(JdkCalls.class, name, MethodType.methodType(result, arguments));
    }

    private static Class<?> load(ClassDesc name) throws ClassNotFoundException {
        return Class.forName(name.packageName() + "." + name.displayName());
    }

    private static void retransform(Instrumentation instrumentation, Set<Question> asking)
            throws ClassNotFoundException, UnmodifiableClassException {
        Set<Class<?>> classes = new HashSet<>();
        for (Question question : QUESTIONS) {
            classes.add(load(question.owner()));
        }
        ClassFileTransformer transformer = new ClassFileTransformer() {
            @Override
            public byte @Nullable [] transform(
                    @Nullable ClassLoader loader,
                    String name,
                    @Nullable Class<?> redefined,
                    @Nullable ProtectionDomain domain,
                    byte[] bytes) {
                return redefined != null && classes.contains(redefined) ? changed(bytes, asking) : null;
            }
        };
        instrumentation.addTransformer(transformer, true);
        try {
            instrumentation.retransformClasses(classes.toArray(Class<?>[]::new));
        } finally {
            instrumentation.removeTransformer(transformer);
        }
    }

    private static byte @Nullable [] changed(byte[] bytes, Set<Question> asking) {
        ClassFile file = ClassFile.of();
        ClassModel model = file.parse(bytes);
        ClassTransform all = ClassTransform.ACCEPT_ALL;
        boolean any = false;
        for (Question question : QUESTIONS) {
            boolean fits = question.owner().equals(model.thisClass().asSymbol())
                    && model.methods().stream().anyMatch(question::isIn);
            if (fits) {
                any = true;
                asking.add(question);
                all = all.andThen(ClassTransform.transformingMethodBodies(question::isIn, new Prologue(question)));
            }
        }
        return any ? file.transformClass(model, all) : null;
    }

    private record Prologue(Question question) implements CodeTransform {
        @Override
        public void atStart(CodeBuilder builder) {
            question.ask(builder);
        }

        @Override
        public void accept(CodeBuilder builder, CodeElement element) {
            builder.with(element);
        }
    }
}
