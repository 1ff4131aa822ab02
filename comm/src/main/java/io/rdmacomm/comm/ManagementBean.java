package io.rdmacomm.comm;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.ImmutableDescriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;

/// A management bean of counters and other attributes, all read-only. Attributes are added before the bean is
/// registered.
final class ManagementBean implements DynamicMBean {
    private final String description;
    private final List<MBeanAttributeInfo> attributes = new ArrayList<>();
    private final Map<String, Supplier<?>> values = new HashMap<>();

    /// A bean with all counters.
    ///
    /// @param description shown to users
    public ManagementBean(String description, Supplier<ChannelStatistics> statistics) {
        this.description = description;
        for (ChannelCounter counter : ChannelCounter.values()) {
            add(
                    nameOf(counter),
                    long.class,
                    counter.description(),
                    counter.unit(),
                    () -> statistics.get().value(counter));
        }
    }

    /// For example `BytesOut`.
    private static String nameOf(ChannelCounter counter) {
        StringBuilder name = new StringBuilder();
        for (String word : counter.name().split("_", -1)) {
            name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return name.toString();
    }

    /// Adds an attribute.
    public ManagementBean with(String name, Class<?> type, String meaning, Supplier<?> value) {
        add(name, type, meaning, "", value);
        return this;
    }

    private void add(String name, Class<?> type, String meaning, String unit, Supplier<?> value) {
        attributes.add(new MBeanAttributeInfo(
                name,
                type.getName(),
                meaning,
                true,
                false,
                type == boolean.class,
                unit.isEmpty() ? null : new ImmutableDescriptor("units=" + unit)));
        values.put(name, value);
    }

    @Override
    public Object getAttribute(String name) throws AttributeNotFoundException {
        Supplier<?> value = values.get(name);
        if (value == null) {
            throw new AttributeNotFoundException(name);
        }
        return value.get();
    }

    @Override
    public AttributeList getAttributes(String[] names) {
        AttributeList found = new AttributeList();
        for (String name : names) {
            try {
                found.add(new Attribute(name, getAttribute(name)));
            } catch (AttributeNotFoundException | RuntimeException e) {
                // The interface requires that a failed attribute is left out.
            }
        }
        return found;
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
        throw new AttributeNotFoundException(attribute.getName() + " can only be read");
    }

    @Override
    public AttributeList setAttributes(AttributeList wanted) {
        return new AttributeList();
    }

    @Override
    public Object invoke(String operation, Object[] arguments, String[] types) {
        throw new UnsupportedOperationException(operation);
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        return new MBeanInfo(
                ManagementBean.class.getName(),
                description,
                attributes.toArray(MBeanAttributeInfo[]::new),
                null,
                null,
                null);
    }
}
