package handlersocket2;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes records of rows, and values of records. Any thread may use it.
 *
 * @param <T> the record
 */
final class RecordMapper<T> implements Function<Row, T> {
    private final Class<T> type;
    private final RecordComponent[] components;
    private final List<String> columns = new ArrayList<>();
    private final ValueReader<?>[] readers;
    private final MethodHandle constructor;
    /** Where the columns stand in the rows that came last. */
    private volatile @Nullable Places places;

    private record Places(RowShape shape, int[] positions) {}

    RecordMapper(Class<T> type) {
        this.type = type;
        components = type.getRecordComponents();
        readers = new ValueReader<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            Class<?> wanted = components[i].getType();
            if (!ValueReader.knows(wanted)) {
                throw new UsageException(
                        "a value cannot be read as the type " + wanted.getName() + " of the component "
                                + components[i].getName());
            }
            readers[i] = ValueReader.of(wanted);
            columns.add(column(components[i]));
        }
        constructor = constructor(type, components);
    }

    private static String column(RecordComponent component) {
        Column named = component.getAnnotation(Column.class);
        return named == null ? component.getName() : named.value();
    }

    private static MethodHandle constructor(Class<?> type, RecordComponent[] components) {
        try {
            Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            Constructor<?> found = type.getDeclaredConstructor(types);
            found.setAccessible(true);
            return MethodHandles.lookup()
                    .unreflectConstructor(found)
                    .asSpreader(Object[].class, components.length)
                    .asType(java.lang.invoke.MethodType.methodType(Object.class, Object[].class));
        } catch (ReflectiveOperationException | RuntimeException problem) {
            throw new UsageException(
                    "the record " + type.getName() + " cannot be made; its module has to open its package", problem);
        }
    }

    List<String> columns() {
        return columns;
    }

    /** Refuses columns that the rows do not have. */
    void check(RowShape shape) {
        columns.forEach(shape::position);
    }

    @Override
    public T apply(Row row) {
        Places known = places;
        if (known == null || known.shape() != row.shape()) {
            RowShape shape = row.shape();
            known = new Places(shape, columns.stream().mapToInt(shape::position).toArray());
            places = known;
        }
        Object[] values = new Object[components.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = row.read(known.positions()[i], readers[i]);
            if (values[i] == null && components[i].getType().isPrimitive()) {
                throw new DecodeException("the value of column " + columns.get(i) + " is NULL", null);
            }
        }
        try {
            return type.cast(constructor.invokeExact(values));
        } catch (Throwable problem) {
            throw DecodeException.of(problem, false);
        }
    }

    /** The values of a record by their columns. */
    static Map<String, @Nullable Object> values(Record record) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            try {
                component.getAccessor().setAccessible(true);
                values.put(column(component), component.getAccessor().invoke(record));
            } catch (ReflectiveOperationException | RuntimeException problem) {
                throw new UsageException("the record " + record.getClass().getName() + " cannot be read", problem);
            }
        }
        return values;
    }
}
