import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.CLASS_INIT_NAME;
import static java.lang.constant.ConstantDescs.INIT_NAME;
import static java.lang.constant.ConstantDescs.MTD_void;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.NestHostAttribute;
import java.lang.classfile.attribute.NestMembersAttribute;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DirectMethodHandleDesc.Kind;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Replaces the lambdas and method references of compiled classes by ordinary classes, as if each were written as an
/// anonymous class. The JVM makes a hidden class for each lambda when it first meets it, and that is a good part of the
/// time that a program needs until its first message; see docs/decisions/0092-lambdas-become-classes.md.
///
/// The build runs it on each library after compiling: `java -cp CLASSPATH LambdaClasses.java FOLDER`. It changes nothing
/// in a folder where it has run before, and deletes the classes of lambdas that are no longer there.
final class LambdaClasses {
    /// The linker of lambdas. Serializable ones and those with several interfaces use another method, and stay.
    private static final String LINKER = "metafactory";

    /// Follows the name of the class that had the lambda; a number follows.
    private static final String SUFFIX = "$$Lambda$";

    private static final ClassDesc LINKER_CLASS = ClassDesc.of("java.lang.invoke.LambdaMetafactory");

    private final ClassFile format = ClassFile.of(
            ClassFile.ConstantPoolSharingOption.NEW_POOL,
            ClassFile.ClassHierarchyResolverOption.of(
                    ClassHierarchyResolver.ofResourceParsing(ClassLoader.getSystemClassLoader())));
    private final Path folder;

    /// The new members of each nest, by its host: they may call its private methods (JVMS 5.4.4).
    private final Map<String, List<ClassDesc>> newMembers = new TreeMap<>();

    private LambdaClasses(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] arguments) throws IOException {
        new LambdaClasses(Path.of(arguments[0])).run();
    }

    private void run() throws IOException {
        for (Path file : classFiles()) {
            deleteIfStale(file);
        }
        for (Path file : classFiles()) {
            replaceLambdas(file);
        }
        for (Map.Entry<String, List<ClassDesc>> entry : newMembers.entrySet()) {
            addMembers(file(ClassDesc.ofDescriptor(entry.getKey())), entry.getValue());
        }
    }

    private List<Path> classFiles() throws IOException {
        try (Stream<Path> found = Files.walk(folder)) {
            return found.filter(file -> file.toString().endsWith(".class"))
                    .filter(file -> !file.endsWith("module-info.class"))
                    .sorted()
                    .toList();
        }
    }

    /// A class of an earlier run, whose maker has been compiled again or is gone.
    private void deleteIfStale(Path file) throws IOException {
        String name = file.getFileName().toString();
        int end = name.indexOf(SUFFIX);
        if (end < 0) {
            return;
        }
        Path maker = file.resolveSibling(name.substring(0, end) + ".class");
        if (!Files.exists(maker) || !names(format.parse(maker), name.substring(0, name.length() - ".class".length()))) {
            Files.delete(file);
        }
    }

    private static boolean names(ClassModel type, String other) {
        for (PoolEntry entry : type.constantPool()) {
            if (entry instanceof ClassEntry named && named.asInternalName().endsWith("/" + other)) {
                return true;
            }
        }
        return false;
    }

    private Path file(ClassDesc type) {
        String descriptor = type.descriptorString();
        return folder.resolve(descriptor.substring(1, descriptor.length() - 1) + ".class");
    }

    private void replaceLambdas(Path file) throws IOException {
        ClassModel type = format.parse(file);
        ClassDesc self = type.thisClass().asSymbol();
        ClassDesc host = type.findAttribute(Attributes.nestHost())
                .map(attribute -> attribute.nestHost().asSymbol())
                .orElse(self);
        List<ClassDesc> made = new ArrayList<>();
        byte[] changed = format.transformClass(type, ClassTransform.transformingMethodBodies((code, element) -> {
            if (element instanceof InvokeDynamicInstruction call && isLambda(call)) {
                Lambda lambda = new Lambda(self.nested(SUFFIX.substring(1) + made.size()), call);
                write(file(lambda.name), lambda.build(format, host));
                lambda.create(code);
                made.add(lambda.name);
            } else {
                code.with(element);
            }
        }));
        if (!made.isEmpty()) {
            Files.write(file, changed);
            newMembers
                    .computeIfAbsent(host.descriptorString(), _ -> new ArrayList<>())
                    .addAll(made);
        }
    }

    private static boolean isLambda(InvokeDynamicInstruction call) {
        DirectMethodHandleDesc linker = call.bootstrapMethod();
        return linker.owner().equals(LINKER_CLASS) && linker.methodName().equals(LINKER);
    }

    private static void write(Path file, byte[] content) {
        try {
            Files.write(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void addMembers(Path file, List<ClassDesc> more) throws IOException {
        ClassModel host = format.parse(file);
        List<ClassDesc> members = new ArrayList<>(more);
        host.findAttribute(Attributes.nestMembers())
                .ifPresent(old -> old.nestMembers().forEach(member -> members.add(member.asSymbol())));
        ClassTransform replace = ClassTransform.dropping(element -> element instanceof NestMembersAttribute)
                .andThen(ClassTransform.endHandler(code -> code.with(
                        NestMembersAttribute.ofSymbols(members.stream().distinct().toList()))));
        Files.write(file, format.transformClass(host, replace));
    }

    /// A class in place of one lambda: its fields are the captured values, its method calls the body.
    private static final class Lambda {
        private static final String ONLY = "ONLY";
        private static final String MAKE = "make";

        private final ClassDesc name;
        private final ClassDesc type;
        private final String method;
        private final MethodTypeDesc captured;
        private final MethodTypeDesc declared;
        private final MethodTypeDesc actual;
        private final DirectMethodHandleDesc body;

        /// See `LambdaMetafactory.metafactory` for the arguments.
        Lambda(ClassDesc name, InvokeDynamicInstruction call) {
            List<ConstantDesc> arguments = call.bootstrapArgs();
            this.name = name;
            type = call.typeSymbol().returnType();
            method = call.name().stringValue();
            captured = call.typeSymbol();
            declared = (MethodTypeDesc) arguments.get(0);
            body = (DirectMethodHandleDesc) arguments.get(1);
            actual = (MethodTypeDesc) arguments.get(2);
        }

        private boolean capturesNothing() {
            return captured.parameterCount() == 0;
        }

        /// In place of the lambda: takes the captured values from the stack and leaves the object there.
        void create(CodeBuilder code) {
            if (capturesNothing()) {
                code.getstatic(name, ONLY, type);
            } else {
                code.invokestatic(name, MAKE, captured);
            }
        }

        byte[] build(ClassFile format, ClassDesc host) {
            MethodTypeDesc constructor = captured.changeReturnType(CD_void);
            return format.build(name, made -> {
                made.withFlags(AccessFlag.FINAL, AccessFlag.SUPER, AccessFlag.SYNTHETIC)
                        .withInterfaceSymbols(type)
                        .with(NestHostAttribute.of(host));
                for (int i = 0; i < captured.parameterCount(); i++) {
                    made.withField(field(i), captured.parameterType(i), ClassFile.ACC_PRIVATE | ClassFile.ACC_FINAL);
                }
                made.withMethodBody(INIT_NAME, constructor, ClassFile.ACC_PRIVATE, this::keepCaptured);
                if (capturesNothing()) {
                    made.withField(ONLY, type, ClassFile.ACC_STATIC | ClassFile.ACC_FINAL);
                    made.withMethodBody(
                            CLASS_INIT_NAME, MTD_void, ClassFile.ACC_STATIC, code -> construct(code, constructor)
                                    .putstatic(name, ONLY, type)
                                    .return_());
                } else {
                    made.withMethodBody(
                            MAKE, captured, ClassFile.ACC_STATIC, code -> construct(code, constructor).areturn());
                }
                made.withMethodBody(method, declared, ClassFile.ACC_PUBLIC, this::callBody);
            });
        }

        private static String field(int index) {
            return "captured" + index;
        }

        private CodeBuilder construct(CodeBuilder code, MethodTypeDesc constructor) {
            code.new_(name).dup();
            for (int i = 0; i < constructor.parameterCount(); i++) {
                code.loadLocal(TypeKind.from(constructor.parameterType(i)), code.parameterSlot(i));
            }
            return code.invokespecial(name, INIT_NAME, constructor);
        }

        private void keepCaptured(CodeBuilder code) {
            code.aload(0).invokespecial(CD_Object, INIT_NAME, MTD_void);
            for (int i = 0; i < captured.parameterCount(); i++) {
                ClassDesc value = captured.parameterType(i);
                code.aload(0)
                        .loadLocal(TypeKind.from(value), code.parameterSlot(i))
                        .putfield(name, field(i), value);
            }
            code.return_();
        }

        private void callBody(CodeBuilder code) {
            // With the receiver of an instance method as the first parameter.
            MethodTypeDesc called = body.invocationType();
            if (body.kind() == Kind.CONSTRUCTOR) {
                code.new_(body.owner()).dup();
            }
            int parameter = 0;
            for (int i = 0; i < captured.parameterCount(); i++, parameter++) {
                code.aload(0).getfield(name, field(i), captured.parameterType(i));
            }
            for (int i = 0; i < declared.parameterCount(); i++, parameter++) {
                code.loadLocal(TypeKind.from(declared.parameterType(i)), code.parameterSlot(i));
                convert(code, declared.parameterType(i), actual.parameterType(i), called.parameterType(parameter));
            }
            MethodTypeDesc signature = MethodTypeDesc.ofDescriptor(body.lookupDescriptor());
            switch (body.kind()) {
                case STATIC, INTERFACE_STATIC ->
                    code.invokestatic(body.owner(), body.methodName(), signature, body.isOwnerInterface());
                case VIRTUAL, SPECIAL -> code.invokevirtual(body.owner(), body.methodName(), signature);
                case INTERFACE_VIRTUAL, INTERFACE_SPECIAL ->
                    code.invokeinterface(body.owner(), body.methodName(), signature);
                case CONSTRUCTOR -> code.invokespecial(body.owner(), INIT_NAME, signature);
                default -> throw new IllegalStateException(name + " calls " + body);
            }
            returnResult(code, called.returnType());
        }

        private void returnResult(CodeBuilder code, ClassDesc result) {
            ClassDesc wanted = declared.returnType();
            if (!wanted.equals(CD_void)) {
                convert(code, result, result, wanted);
            } else if (TypeKind.from(result).slotSize() == 2) {
                code.pop2();
            } else if (!result.equals(CD_void)) {
                code.pop();
            }
            code.return_(TypeKind.from(wanted));
        }

        /// Converts the value on the stack, which has the type `from` and is known to be a `known`, as assignments do
        /// (JLS 5.2).
        private static void convert(CodeBuilder code, ClassDesc from, ClassDesc known, ClassDesc to) {
            if (from.isPrimitive() && to.isPrimitive()) {
                TypeKind wide = TypeKind.from(to).asLoadable();
                if (TypeKind.from(from).asLoadable() != wide) {
                    code.conversion(TypeKind.from(from).asLoadable(), wide);
                }
            } else if (from.isPrimitive()) {
                ClassDesc box = box(from);
                code.invokestatic(box, "valueOf", MethodTypeDesc.of(box, from));
            } else if (to.isPrimitive()) {
                ClassDesc box = unboxed(known).isPrimitive() ? known : box(to);
                ClassDesc value = unboxed(box);
                if (!from.equals(box)) {
                    code.checkcast(box);
                }
                code.invokevirtual(box, value.displayName() + "Value", MethodTypeDesc.of(value));
                convert(code, value, value, to);
            } else if (!from.equals(to) && !to.equals(CD_Object)) {
                code.checkcast(to);
            }
        }

        private static ClassDesc box(ClassDesc primitive) {
            return describe(resolve(primitive.descriptorString()).wrap());
        }

        private static ClassDesc unboxed(ClassDesc box) {
            return describe(resolve(box.descriptorString()).unwrap());
        }

        private static MethodType resolve(String result) {
            return MethodType.fromMethodDescriptorString("()" + result, null);
        }

        private static ClassDesc describe(MethodType type) {
            return type.returnType().describeConstable().orElseThrow();
        }
    }
}
